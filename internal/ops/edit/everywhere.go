package edit

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/chat"
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
// extensions keep, but never in names of chats, lorebooks and files, nor in IDs. A fact says in how many of
// these it would have found something.
func Replace(ctx context.Context, opt ReplaceOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		subs := prepared(opt.Sub)
		chosen, err := o.chosen(ctx, scanning{Choice: opt.Choice})
		if err != nil {
			return nil, err
		}
		found := new(placesByLine)
		edits := found.counting(func(line []byte) ([]byte, places, error) {
			edited, inLine := everywhereInMessage(line, subs)
			return edited, inLine, nil
		})
		p := &Plan{Taints: true, Change: chosen, Edits: edits, Found: found}
		if !opt.Choice.All() {
			return p, nil
		}

		p.Metadata = func(metadata []byte) ([]byte, error) {
			edited, inHeader := everywhere(metadata, subs, spot{})
			inHeader.add(inOldNames(o.chat.Header.Fields(), subs))
			found.set(chat.HeaderIndex, inHeader)
			return edited, nil
		}
		return p, nil
	})
}

// inOldNames makes substitutions in the names that headers have had beside the metadata before
// SillyTavern 1.12.
func inOldNames(header *rawjson.Object, subs []substituting) (found places) {
	for _, key := range []string{"user_name", "character_name"} {
		value := header.Value(key)
		if value == nil {
			continue
		}
		edited, inValue := substituted(value, subs)
		found.add(inValue)
		if !bytes.Equal(edited, value) {
			header.Set(key, edited)
		}
	}
	return found
}

// everywhereInMessage makes substitutions in every text of a message. What the chosen swipe repeats of it is
// counted once.
func everywhereInMessage(line []byte, subs []substituting) (edited []byte, found places) {
	edited, found = everywhere(line, subs, spot{})
	if found == (places{}) {
		return line, found
	}
	number := 0
	for swipe := range rawjson.Elements(rawjson.Value(line, "swipes")) {
		if message.RepeatsText(line, swipe, number) {
			_, again := substituted(swipe, subs)
			found.replaced -= again.replaced
			found.left -= again.left
		}
		number++
	}
	return edited, found // each swipe has had its own replacements
}

// isNameKey reports whether a text under a key is the name of a chat, a lorebook or a file, or an ID (FORMATS.md
// 2 to 7). What objects under it hold is judged by their own keys.
func isNameKey(key string) bool {
	switch key {
	case "main_chat", "world_info", "chat_id", "lorebookName", "bookmark_link", "branches", "integrity", "uuid", "id",
		"url", "image", "inline_image", "imageUrl", "path", "src", "avatar", "force_avatar", "original_avatar",
		"custom_background", "chat_backgrounds", "persona", "video", "image_swipes":
		return true
	}
	return holdsFiles(key) || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id")
}

// holdsFiles reports whether what is under a key are files, whose name is not a person's.
func holdsFiles(key string) bool {
	return key == "file" || key == "files" || key == "media" || key == "attachments"
}

// isWrittenByProgram reports whether what is under a key is text that no person writes: a date, a program.
func isWrittenByProgram(key string) bool {
	switch key {
	case "send_date", "gen_started", "gen_finished", "create_date", "api", "model", "type":
		return true
	}
	return false
}

// spot is where in a document a value is.
type spot struct {
	key    string // that it is under, with lists between or none
	isName bool   // a text there is a name or an ID
}

// member returns where the value under a key of an object is.
func (s spot) member(key string) spot {
	isFileName := key == "name" && holdsFiles(s.key)
	return spot{key, isFileName || isNameKey(key)}
}

// everywhere makes substitutions in every text in a value but names, and counts the names in which they would
// have found something.
func everywhere(raw []byte, subs []substituting, at spot) (edited []byte, found places) {
	inside := func(value []byte, at spot) []byte {
		changed, inValue := everywhere(value, subs, at)
		found.add(inValue)
		return changed
	}

	switch rawjson.KindOf(raw) {
	case rawjson.String:
		edited, found = substituted(raw, subs)
		if at.isName {
			return raw, found.asName()
		}
		return edited, found
	case rawjson.Array:
		edited = rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) { return inside(value, at), true })
		return edited, found
	case rawjson.ObjectKind:
		edited = rawjson.Edit(raw, func(o *rawjson.Object) {
			changed := map[string][]byte{}
			for key, value := range o.All() {
				if isWrittenByProgram(key) {
					continue
				}
				if now := inside(value, at.member(key)); !bytes.Equal(now, value) {
					changed[key] = slices.Clone(now)
				}
			}

			for key, value := range changed {
				o.Set(key, value)
			}
		})
		return edited, found
	}
	return raw, found
}
