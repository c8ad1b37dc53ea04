// Package lexicon knows everyday English: how a text falls into words, how much a
// word says of what a text is about, and which words are of one kind. It knows no
// choices and no evaluators, and keeps nothing between calls.
package lexicon
