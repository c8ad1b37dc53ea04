// Package fault is the coded error of the whole product: a value with a stable
// code that the API, the log and the screen all show, a class that the edge maps
// to a status in one place, and one sentence that says what to do.
//
// A fault is defined once, beside the rule it speaks for, and compared with
// errors.Is. It knows nothing of HTTP.
package fault
