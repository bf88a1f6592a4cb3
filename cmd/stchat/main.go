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
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second Ctrl-C ends the program at once
		stop(interruption{s})
	}()
	os.Exit(run(ctx, newEnv(), os.Args[1:]))
}
