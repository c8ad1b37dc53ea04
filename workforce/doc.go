// Package workforce reads a declared tree of Markdown files: mailboxes, workers,
// teams and documents, from any file system, and holds the demo tree that ships
// with the product. It reads and reports; what a record may say is judged where it
// is bound. Links are never followed.
package workforce
