package ops

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stchat/internal/folder/library"
	"stchat/internal/json/metadiff"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// DiffMetaOptions selects the chats whose metadata DiffMeta compares.
type DiffMetaOptions struct {
	A, B   string // paths; one of them may be "-"
	Stdin  io.Reader
	Select metadiff.Selection
}

// MetaDiff is the difference between the metadata of two chats: the document of diff-meta.
type MetaDiff struct {
	Schema   int               `json:"schema"`
	A        string            `json:"a" is:"path"`
	B        string            `json:"b" is:"path"`
	Equal    bool              `json:"equal"`
	Changes  []metadiff.Change `json:"changes"`
	Meanings []string          `json:"meanings"` // what the differences mean, where known
	Warnings []string          `json:"warnings"`

	Diff   *metadiff.Diff `json:"-"`
	LabelA string         `json:"-"` // for people to read
	LabelB string         `json:"-"`
}

// DiffMeta compares the metadata of two chats as SillyTavern would load it. It reads no further
// than their headers. A damaged header is an error.
func DiffMeta(ctx context.Context, opt DiffMetaOptions) (*MetaDiff, error) {
	if opt.A == chat.Stdin && opt.B == chat.Stdin {
		return nil, errors.New("standard input can be one side only")
	}
	groups := new(library.Library)
	a, err := openMeta(ctx, opt.A, opt, groups)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	b, err := openMeta(ctx, opt.B, opt, groups)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	d, err := metadiff.Compare(a.Metadata().Bytes(), b.Metadata().Bytes(), opt.Select)
	if err != nil {
		return nil, err
	}
	res := &MetaDiff{
		Schema: 1, A: opt.A, B: opt.B, Equal: d.Equal(), Changes: d.Changes, Meanings: meaningsOf(d, a.Name, b.Name),
		Diff: d, LabelA: a.Label(), LabelB: b.Label(),
	}
	for _, key := range d.Absent {
		res.Warnings = append(res.Warnings, fmt.Sprintf("neither chat has the metadata key %q", key))
	}
	for _, c := range []*chat.Chat{a, b} {
		if c.Header != nil {
			continue
		}
		if _, ok := c.GroupMetadata(); !ok {
			res.Warnings = append(res.Warnings, noMetadata(c))
		}
	}
	return res, nil
}

func noMetadata(c *chat.Chat) string {
	if c.Kind == userdir.Group {
		return fmt.Sprintf("%s: no header, and no group file holds its metadata: it counts as {}", c.Label())
	}
	return fmt.Sprintf("%s: no header: its metadata counts as {}", c.Label())
}

// openMeta opens a chat, and refuses one whose header is damaged.
func openMeta(ctx context.Context, path string, opt DiffMetaOptions, groups chat.Groups) (*chat.Chat, error) {
	c, err := chat.Open(ctx, path, chat.Options{Groups: groups, Stdin: opt.Stdin, Any: true})
	if err != nil {
		return nil, PathError(err)
	}
	if c.Damage.Total > 0 {
		c.Close()
		return nil, c.DamageError(c.Damage.First[0])
	}
	return c, nil
}
