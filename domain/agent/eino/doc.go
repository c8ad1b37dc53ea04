// Package eino measures the agent's loop beside that of github.com/cloudwego/eino
// doing the same. It is a module of its own so that nobody who imports the agent
// brings another framework with it.
package eino
