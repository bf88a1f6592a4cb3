package edit

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// ReplaceOptions says which texts to replace in whole chats.
type ReplaceOptions struct {
	Options
	Choice choose.Choice // of messages; the header changes only if it is of all
	Sub    []Substitution
}

// Replace makes substitutions in all text of chats: what messages say, who speaks, the header, and what
// extensions keep, but never in names of chats, lorebooks and files. A fact says in how many of these
// it would have found something.
func Replace(ctx context.Context, opt ReplaceOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		subs := prepared(opt.Sub)
		places, err := o.chosen(ctx, scanning{Choice: opt.Choice})
		if err != nil {
			return nil, err
		}
		p := &Plan{Taints: true, Change: places, Edits: each(func(line []byte) ([]byte, error) {
			edited := everywhere(line, subs)
			if bytes.Equal(edited, line) {
				return line, nil
			}
			return message.SyncText(edited), nil
		})}
		if !opt.Choice.All() {
			return p, nil
		}
		p.Metadata = func(metadata []byte) ([]byte, error) { return everywhere(metadata, subs), nil }
		fields := o.chat.Header.Fields()
		for _, key := range []string{"user_name", "character_name"} { // of headers before 1.12
			if value := fields.Value(key); value != nil {
				if edited := substituted(value, subs); !bytes.Equal(edited, value) {
					fields.Set(key, edited)
				}
			}
		}
		if kept := keptNames(o.chat.Header.Metadata().Bytes(), subs); kept > 0 {
			o.result.Tell(ops.Fact{Kind: ops.FactNamesKept, Path: o.chat.Label(), Count: kept})
		}
		return p, nil
	})
}

// isNameKey reports whether a key holds the name of a chat, a lorebook or a file, or what no person
// writes: a date, an ID (FORMATS.md 2 to 7).
func isNameKey(key string) bool {
	switch key {
	case "main_chat", "world_info", "chat_id", "lorebookName", "bookmark_link", "branches", "integrity",
		"url", "image", "file", "files", "media", "inline_image", "imageUrl", "path", "src", "avatar",
		"force_avatar", "original_avatar", "custom_background", "chat_backgrounds", "attachments",
		"send_date", "gen_started", "gen_finished", "create_date", "api", "model", "type", "uuid", "id":
		return true
	}
	return strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id")
}

// everywhere makes substitutions in every text in a value, but for names.
func everywhere(raw []byte, subs []substituting) []byte {
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		return substituted(raw, subs)
	case rawjson.Array:
		return rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) { return everywhere(value, subs), true })
	case rawjson.ObjectKind:
		return rawjson.Edit(raw, func(o *rawjson.Object) {
			edited := map[string][]byte{}
			for key, value := range o.All() {
				if isNameKey(key) {
					continue
				}
				if changed := everywhere(value, subs); !bytes.Equal(changed, value) {
					edited[key] = slices.Clone(changed)
				}
			}
			for key, value := range edited {
				o.Set(key, value)
			}
		})
	}
	return raw
}

// keptNames counts the names in a value, at its top level, in which substitutions would find something.
func keptNames(raw []byte, subs []substituting) (n int) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return 0
	}
	for key, value := range o.All() {
		isText := rawjson.KindOf(value) == rawjson.String
		if isNameKey(key) && isText && !bytes.Equal(substituted(value, subs), value) {
			n++
		}
	}
	return n
}
