// Package offline answers without a language model: it finds the passages of the
// asker's documents that fit the question and quotes them, naming the document, or
// says that it does not know. The same question over the same documents gives the
// same bytes.
package offline
