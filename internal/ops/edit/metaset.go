// Package edit holds the verbs that edit chats in place: messages and metadata. A verb describes
// the changes to each chat as a [Plan]; one engine opens the chat, refuses what must not be edited,
// finds what follows from the changes, and drafts one change set, which is made whole or not at all
// and which undo reverts.
package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"stchat/internal/folder/rules"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
)

// MetaOptions says how to change the metadata of chats.
type MetaOptions struct {
	Options
	Values    patch.Changes
	MainChat  *string         // "" removes it; nil leaves it
	Integrity string          // a slug, IntegrityNew, IntegrityNone, or "" to leave it
	Where     []ops.Condition // all must hold, or the chat is passed over
}

// Special values of Integrity; any other value is the slug itself.
const (
	IntegrityNew  = "new"
	IntegrityNone = "none"
)

// ErrNeedsSlug means that Luker gives every chat that is edited a slug.
var ErrNeedsSlug = error(&ops.Kind{Code: "refused", Text: "a chat of Luker always has an integrity", Hint: "slug"})

// ErrPassedOver means that a chat does not meet the conditions.
var ErrPassedOver = error(&ops.Kind{Code: "refused", Text: "the chat does not meet the conditions"})

// SetMeta changes the metadata of chats. A chat that does not meet the conditions has
// [ErrPassedOver] in its result.
func SetMeta(ctx context.Context, opt MetaOptions) []*Result {
	left := opt.Values.LeaveOut(keysWithOwnOptions()...)
	opt.again = ops.ChangedMeanwhile
	results := run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		metadata := o.chat.Header.Metadata().Bytes()
		for _, c := range opt.Where {
			if !c.Holds(metadata) {
				return nil, o.chat.Errorf("%w", ErrPassedOver)
			}
		}

		err := o.warnOfKeys(nearMetadataKeys(opt.Values.Edits), func(key patch.Path) (bool, error) {
			_, has := patch.Get(metadata, key)
			return !has, nil
		})
		if err != nil {
			return nil, err
		}
		p := &Plan{Metadata: func(metadata []byte) ([]byte, error) { return setMeta(o, &opt, metadata) }}
		if opt.MainChat == nil || *opt.MainChat == "" {
			return p, nil
		}
		isThere, err := ops.CheckParent(ctx, o.chat.Path, *opt.MainChat)
		if err == nil && !isThere {
			o.result.Warn("%s: there is no chat %q beside it", o.chat.Label(), *opt.MainChat)
		}
		return p, err
	})

	if at := slices.IndexFunc(results, func(r *Result) bool { return r.Err == nil }); len(left) > 0 && at >= 0 {
		r := results[at]
		ops.WarnLeftOut(&r.Result, left)
		r.Doc.Warnings = r.Warnings
	}
	return results
}

// keysWithOwnOptions returns the keys that have options of their own.
func keysWithOwnOptions() []string { return []string{"main_chat", "integrity"} }

// setMeta returns a chat's metadata with the changes made. The slug and the parent have options
// of their own, so nothing else changes them.
func setMeta(o *open, opt *MetaOptions, metadata []byte) ([]byte, error) {
	edited, err := opt.Values.Apply(metadata)
	if err != nil {
		return nil, err
	}
	md, err := rawjson.ParseObject(edited)
	if err != nil {
		return edited, nil // the engine reports it
	}
	for _, key := range keysWithOwnOptions() {
		if raw, ok := rawjson.Lookup(metadata, key); !ok {
			md.Unset(key)
		} else if string(md.Value(key)) != string(raw) {
			md.Set(key, raw)
		}
	}

	switch {
	case opt.MainChat == nil:
	case *opt.MainChat == "":
		md.Unset("main_chat")
	default:
		md.Set("main_chat", rawjson.Quote(*opt.MainChat))
	}

	switch opt.Integrity {
	case "":
	case IntegrityNone:
		if o.luker {
			return nil, ErrNeedsSlug
		}
		o.slug = ""
		md.Unset("integrity")
	case IntegrityNew:
		if o.slug == "" {
			o.slug = opt.Changes.NewUUID()
		}
		md.Set("integrity", rawjson.Quote(o.slug))
	default:
		o.slug = "" // what is asked for comes before the new one that every edit may give
		if o.luker {
			o.slug = opt.Integrity
		}
		md.Set("integrity", rawjson.Quote(opt.Integrity))
	}
	return md.Bytes(), nil
}

// judgeState warns of errors in what Auto-Recap and Auto-Illustrator keep in the metadata that
// were not there before.
func judgeState(o *open, before []byte) {
	found := func(metadata *rawjson.Object) []string {
		return rules.StateErrors(metadata, o.chat.Name, func(book string) bool {
			if !o.chat.HasDir {
				return false
			}
			_, err := lorebook.Find(o.chat.Dir.Worlds(), book)
			return err != nil
		})
	}

	now := found(o.chat.Header.Metadata())
	if len(now) == 0 {
		return
	}
	var known []string
	if was, err := rawjson.ParseObject(before); err == nil {
		known = found(was)
	}
	for _, text := range now {
		if !slices.Contains(known, text) {
			o.result.Warn("%s: this leaves an error: %s", o.chat.Label(), text)
		}
	}
}

// judgeBook warns of a lorebook that is not there, if the metadata did not name it before.
func judgeBook(o *open, before []byte) {
	raw := o.chat.Header.Metadata().Value("world_info")
	name, ok := lorebook.NameIn(o.chat.Header.Metadata())
	if !ok || !o.chat.HasDir || bytes.Equal(raw, rawjson.Value(before, "world_info")) {
		return
	}

	worlds := o.chat.Dir.Worlds()
	path, err := lorebook.Find(worlds, name)
	switch {
	case errors.Is(err, lorebook.ErrMissing):
		text := fmt.Sprintf("there is no lorebook %q", name)
		if like := lorebook.Like(worlds, name); like != "" {
			text += fmt.Sprintf("; did you mean %q?", like)
		}
		o.result.Warn("%s: %s", o.chat.Label(), text)
	case err == nil:
		if listed, exact := lorebook.Spelling(path); !exact {
			o.result.Warn("%s: %s", o.chat.Label(), lorebook.CalledText(name, listed))
		}
	}
}
