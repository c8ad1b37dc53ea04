// Package web is the server: it wires the rooms together, starts and stops them in
// order, and holds the one table of all routes.
package web
