// Command stchat does for SillyTavern chats what git does for source: it
// checkpoints, branches, inspects, compares, checks and repairs them, offline.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, newEnv(), os.Args[1:])
	stop()
	os.Exit(code)
}
