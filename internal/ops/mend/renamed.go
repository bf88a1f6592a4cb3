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

// renames finds out what chats are called now that others name and that are gone.
// It reads the chats of a folder once, as they will be when they are mended, and only
// where a name leads nowhere. It may be used by several goroutines at once.
type renames struct {
	lib *library.Library
	as  func(path string) *family.As

	mu      sync.Mutex
	folders map[string]kin
}

// of returns what the chats of a folder tell.
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

// now reports whether a chat's names that lead nowhere can be told what they are
// called now; left tells of those of which nobody can.
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

// in returns what a name that leads nowhere is called now, for the names of a chat.
// It is asked of lines, too, that nobody could read until now, so the folder may be
// read only then.
func (r *renames) in(ctx context.Context, c *rules.Chat) func(name string) (now string, ok bool) {
	return func(name string) (string, bool) {
		k, err := r.of(ctx, c.Folder)
		if err != nil {
			return "", true // it stays
		}
		for _, m := range k[c.Name] {
			if m.name == name {
				return m.now, true
			}
		}
		return "", false
	}
}

// becoming tells of a chat's lines what messages they will hold: junk around one goes,
// and so does the header where it comes once more.
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
