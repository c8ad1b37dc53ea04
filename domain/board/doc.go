// Package board is work that outlives the talk: the boards that mailboxes hold and
// the ledgers behind them. It knows no mailboxes' rules, no HTTP and no SQL.
package board
