// Package agent is a conversation with a model that may call tools: the loop that
// asks, runs what is called, pairs every call with its result, and ends within its
// limits. It can be imported alone: it knows no sessions, no server and no database.
package agent
