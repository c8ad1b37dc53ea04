// Package transport is how model clients reach their provider: an HTTP client that
// gives up a connection on which nothing comes any more, and the rule by which a
// request that failed is made again.
package transport
