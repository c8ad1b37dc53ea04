// Package static holds the style sheet, the scripts and the icon, embedded in the
// binary. They are served under one version made of all their bytes, so that a
// page and its modules always belong together and may be cached for ever.
package static
