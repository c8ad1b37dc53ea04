// Package views holds the screens: templ components, one file a screen plus shared
// parts, and beside each the struct it takes. They fetch nothing and decide
// nothing; pages and the live hub render the same parts from the same structs.
// Nothing in a part that is pushed depends on who looks at it.
package views
