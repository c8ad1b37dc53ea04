// Package store keeps everything in SQLite through gorm: one file a table. It
// implements the small interfaces that the packages of domain declare; nothing
// above web knows that it exists.
//
// Writes go through one writer, which groups what is queued into one transaction,
// so that durability costs one sync a group. Reads have a pool of their own and
// see what is committed. Invariants are the database's: unique indexes and
// conditional updates.
package store
