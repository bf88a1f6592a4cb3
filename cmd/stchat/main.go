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
	e := newEnv()
	go func() {
		for s := range signals {
			if s == os.Interrupt && e.Paging.Load() {
				continue // it is the pager's
			}
			signal.Stop(signals) // a second Ctrl-C ends the program at once
			stop(interruption{s.(syscall.Signal)})
		}
	}()

	os.Exit(run(ctx, e, os.Args[1:]))
}
