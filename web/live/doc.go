// Package live is the websocket hub. A mailbox's transcript is a log: a page names
// the last seq it holds and gets exactly what follows, in order. Everything else is
// state: sent whole on connect, then as replacements.
//
// Notices carry ids only. The hub reads from the store everything after its own
// cursor, renders each line once, and every socket pulls from there at its own
// pace, so a slow one never slows others and holds no queue.
package live
