package state

import (
	"context"
	"fmt"

	"stchat/internal/chat"
	"stchat/internal/library"
	"stchat/internal/luker"
	"stchat/internal/ops"
)

// Log is the history of a namespace: the document of state log.
type Log struct {
	Schema    int       `json:"schema"`
	Path      string    `json:"path" is:"path"`
	Namespace string    `json:"namespace"`
	Commits   []Commit  `json:"commits"`  // of a floor log
	Versions  []Version `json:"versions"` // of the running recap, for recap:

	Notes []string `json:"-"`
}

// Commit is one commit of a floor log.
type Commit struct {
	Floor      *int `json:"floor"`  // null if it is not a number
	Swipe      *int `json:"swipe"`  // from 1
	Active     bool `json:"active"` // it counts: its swipe is chosen
	Valid      bool `json:"valid"`  // Luker skips a commit that is not valid
	Operations int  `json:"operations"`
	Bytes      int  `json:"bytes"`
}

// LogOf reads the history of a namespace. The error wraps [ErrNoLog] if it has none.
func LogOf(ctx context.Context, lib *library.Library, opt ReadOptions, given string) (*Log, error) {
	t, err := openTarget(ctx, lib, opt.Data, opt.Path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	l := &Log{Schema: 1, Path: opt.Path}
	l.Namespace, err = namespaceOf(given, func(format string, args ...any) { l.Notes = append(l.Notes, fmt.Sprintf(format, args...)) })
	if err != nil {
		return nil, fmt.Errorf("%q: %w", given, err)
	}
	if l.Namespace == Recap && t.chat != nil {
		l.Versions, err = versions(ctx, t.chat)
		return l, err
	}
	log, ok := t.log(l.Namespace)
	if !ok {
		return nil, fmt.Errorf("%s: %q: %w", t.path, l.Namespace, ErrNoLog)
	}
	swipes, err := t.chosen(ctx)
	if err != nil {
		return nil, err
	}
	f, err := chat.OpenRegular(log.Path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	defer f.Close()
	active := luker.Active(swipes, -1)
	err = luker.EachCommit(f, func(c *luker.Commit) error {
		one := Commit{Active: c.Valid && active(c), Valid: c.Valid, Operations: c.Operations, Bytes: len(c.Raw)}
		if floor := c.Floor; floor >= 0 {
			one.Floor = &floor
		}
		if swipe := c.Swipe + 1; swipe > 0 {
			one.Swipe = &swipe
		}
		l.Commits = append(l.Commits, one)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", log.Path, err)
	}
	return l, nil
}
