// Package live says what changed, for whoever watches: an in-process broker of
// notices that carry ids and never content. A notice may be lost, late or doubled
// without harm, because every watcher reads from the table everything after its
// own cursor.
package live
