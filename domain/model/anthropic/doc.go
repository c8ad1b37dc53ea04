// Package anthropic asks models over Anthropic's Messages API, streaming, through
// the official SDK. The base URL can be set, so compatible endpoints work too.
package anthropic
