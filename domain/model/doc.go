// Package model is the talker: what a request to a language model and its answer
// are, the interface to whoever answers, and nothing else. It knows no agents, no
// sessions and no provider; the clients stand in packages of their own.
package model
