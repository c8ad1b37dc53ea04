// Package handlers answers HTTP: one file a resource. A handler decodes, asks who
// it is, calls one thing of the domain, and encodes or renders. No rules stand
// here; errors go up to one place that gives them their status.
package handlers
