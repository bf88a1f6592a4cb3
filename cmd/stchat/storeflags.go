package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/history"
	"stchat/internal/ops/keep"
)

// storeVariable is the environment variable that names the store unless --store does.
const storeVariable = "STCHAT_STORE"

// storeFlag is --store.
type storeFlag struct{ path string }

func (f *storeFlag) addFlags(fs *pflag.FlagSet) {
	fs.Var(filled(&f.path), "store", "keep the history in `FILE`; default: $"+storeVariable+", else .stchat/history.db in the user folder")
}

// of returns the store that --store or STCHAT_STORE names, "" for the user folder's own.
func (f *storeFlag) of(a *app) string { return cmp.Or(f.path, a.Getenv(storeVariable)) }

// where returns which chat is meant, and in which store.
func (f *storeFlag) where(a *app, args []string, data string) (keep.Where, error) {
	switch {
	case len(args) == 0:
		return keep.Where{}, usagef("name a chat, e.g. `stchat %s \"chats/Mira/Harbour.jsonl\"` or Mira/Harbour", strings.TrimPrefix(a.started, "stchat "))
	case args[0] == "":
		return keep.Where{}, usagef("CHAT is empty")
	}
	return keep.Where{Chat: args[0], Store: f.of(a), Data: cmp.Or(data, a.Getenv(dataVariable)), Now: a.Now()}, nil
}

// storeHint returns the hint for a store that cannot be used, "" if there is none.
func storeHint(err error) string {
	switch {
	case errors.Is(err, history.ErrNewer):
		return "; update stchat"
	case errors.Is(err, history.ErrBusy):
		return "; run the command again when it is done"
	case errors.Is(err, history.ErrNoLocks):
		return "; keep it in a file on another disk, which --store names"
	case errors.Is(err, history.ErrCut):
		return "; put a copy of it in its place, or move it away: the next snapshot begins another"
	case errors.Is(err, history.ErrBroken):
		return "; 'stchat history --verify' says what is lost"
	case errors.Is(err, history.ErrOtherRoot):
		return "; use another --store for this folder"
	}
	return ""
}
