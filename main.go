// Command postroom serves the web application in which people and AI agents work
// the same mailboxes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"postroom/web/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
