package mend

import (
	"bytes"
	"context"
	"sync"

	"stchat/internal/family"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/meta"
	"stchat/internal/rules"
)

// renames finds the current names of chats that others name but that no longer exist. It reads
// the chats of a folder once, as they will be when they are mended, and only if a name leads
// nowhere. It is safe for concurrent use.
type renames struct {
	lib *library.Library
	as  func(path string) *family.As

	mu      sync.Mutex
	folders map[string]kin
}

// of returns the missing names of a folder's chats.
func (r *renames) of(ctx context.Context, folder string) (kin, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.folders[folder]; k != nil {
		return k, nil
	}
	graphs, err := family.Read(ctx, r.lib, []string{folder}, family.Options{As: r.as})
	if err != nil {
		return nil, err
	}
	k := settle(graphs[0])
	r.folders[folder] = k
	return k, nil
}

// now reports whether a chat has names that lead nowhere but may mean an existing chat; left
// describes those whose meaning is not clear.
func (r *renames) now(ctx context.Context, c *rules.Chat, have rules.Set) (renamed bool, left []string, err error) {
	if have&dangling() == 0 {
		return false, nil, nil
	}
	k, err := r.of(ctx, c.Folder)
	if err != nil {
		return false, nil, err
	}
	for _, m := range k[c.Name] {
		if have&m.rules == 0 {
			continue
		}
		renamed = true
		if m.now == "" {
			left = append(left, m.String())
		}
	}
	return renamed, left, nil
}

// in returns a function that looks up the current name for a missing name in a chat. The
// function is also called for lines that could not be read before, so it may be the first to
// read the folder. If it cannot read it, it stores the error in failed.
func (r *renames) in(ctx context.Context, c *rules.Chat, failed *error) func(name string) (now string, ok bool) {
	return func(name string) (string, bool) {
		k, err := r.of(ctx, c.Folder)
		if err != nil {
			*failed = err
			return "", true
		}
		for _, m := range k[c.Name] {
			if m.name == name {
				return m.now, true
			}
		}
		return "", false
	}
}

// becoming returns what messages a chat's lines will hold: junk around a message is stripped,
// and a repeated header is taken out.
func becoming(want rules.Set) family.Becoming {
	return func(header []byte, l *jsonl.Line) (message []byte, ok bool) {
		message = l.Raw
		if l.Damage != nil {
			if message, ok = withoutJunk(l.Raw); !ok || !mends(want, rules.DamageRule(l.Damage)) {
				return nil, false
			}
		}
		again := want.Has(rules.MisplacedHeader) && meta.IsHeader(message) &&
			bytes.Equal(bytes.TrimRight(message, "\r"), bytes.TrimRight(header, "\r"))
		return message, !again
	}
}
