package views

import "github.com/a-h/templ"

// templAttrs are attributes that depend on a condition.
type templAttrs = templ.Attributes
