// Package openai asks models over the chat completions API, streaming, through the
// official SDK: OpenAI's own, or any endpoint that speaks as it does, such as a
// server on this machine.
package openai
