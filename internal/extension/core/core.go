// Package core knows the state that SillyTavern itself keeps about messages: the first message
// that a prompt held, and the timed effects of lorebook entries.
package core

import (
	"bytes"
	"strconv"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/place/names"
	"stchat/internal/text/plural"
)

// Extension is SillyTavern itself.
type Extension struct{ extension.None }

const (
	keyLast  = "lastInContextMessageId"
	keyTimed = "timedWorldInfo"
)

// About returns the keys of chat_metadata that SillyTavern and its bundled extensions write, with
// Luker's branches, and those of world-info.js and personas.js of SillyTavern 1.19 that name books.
func (*Extension) About() extension.About {
	return extension.About{
		Name: "core",
		Keys: []string{
			keyLast, keyTimed,
			"integrity", "main_chat", "tainted", "note_prompt", "note_interval", "note_depth", "note_position", "note_role",
			"world_info", "persona", "scenario", "mes_example", "system_prompt", "variables", "script_injects", "attachments",
			"custom_background", "chat_backgrounds", "quickReply", "narrator_name", "chat_id_hash", "pick_reroll_seed",
			"cfg_guidance_scale", "cfg_negative_prompt", "cfg_positive_prompt", "cfg_prompt_combine", "cfg_groupchat_individual_chars",
			"cfg_prompt_insertion_depth", "cfg_prompt_separator", "cfg_negative_combine", "cfg_negative_insertion_depth",
			"cfg_negative_separator", "branches",
		},
		Rows: extension.Table{
			{Path: keyLast, Holds: extension.First, Heals: true},
			extension.Key(extension.Metadata, extension.Book, "world_info"),
			extension.Key(extension.Settings, extension.Book, "world_info_settings/world_info/globalSelect/*"),
			extension.Key(extension.Settings, extension.Book, "world_info_settings/world_info/charLore/*/extraBooks/*"),
			extension.Key(extension.Settings, extension.Book, "power_user/persona_description_lorebook"),
			extension.Key(extension.Settings, extension.Book, "power_user/persona_descriptions/*/lorebook"),
		},
		Reads: []string{extension.KeyTools},
	}
}

// IsText reports whether a key of chat_metadata holds text. SillyTavern 1.19 calls methods of text on some of
// these values, and stops at a number (authors-note.js, cfg-scale.js, world-info.js, personas.js,
// backgrounds.js; the overrides of a character's texts in script.js).
func IsText(key string) bool {
	switch key {
	case "integrity", "main_chat", "note_prompt", "world_info", "persona", "scenario", "mes_example", "system_prompt",
		"custom_background", "narrator_name", "cfg_negative_prompt", "cfg_positive_prompt", "cfg_prompt_separator",
		"cfg_negative_separator":
		return true
	}
	return false
}

// Isolate removes a first message of the prompt that the branch lacks, and effects that began
// later.
func (e *Extension) Isolate(b *extension.Branch) {
	e.About().Rows.Isolate(e, b)
	e.eachEffect(b.Metadata, &b.Report, b.Visible, func(effect *rawjson.Object) bool {
		start, ok := rawjson.Float(effect.Value("start"))
		return !ok || !late(effect, start, b.Visible)
	})
}

// late reports whether a timed effect comes from messages that a chat with so many visible ones
// does not have. An effect that starts at exactly that number comes from a reply that is not
// there, too, unless it is protected: a cooldown started by the end of a sticky effect.
func late(effect *rawjson.Object, start float64, visible int) bool {
	return start > float64(visible) || start == float64(visible) && !rawjson.Truthy(effect.Value("protected"))
}

// kinds returns the kinds of timed effects, each an object.
func kinds() []string { return []string{"sticky", "cooldown"} }

// eachEffect calls keep with each timed effect, removes those that it rejects, and puts back those
// that it edited. It reports how many of a kind are left in a chat with so many visible messages,
// and how many were edited.
func (e *Extension) eachEffect(metadata *rawjson.Object, r *extension.Report, visible int, keep func(effect *rawjson.Object) bool) {
	metadata.Edit(func(timed *rawjson.Object) {
		for _, kind := range kinds() {
			timed.Edit(func(effects *rawjson.Object) {
				total, edited := effects.Len(), 0
				for _, key := range effects.Keys() {
					effect, ok := effects.Object(key)
					switch {
					case !ok:
					case !keep(effect):
						effects.Unset(key)
					case effect.Edited():
						edited++
						effects.Set(key, effect.Bytes())
					}
				}

				if kept := effects.Len(); kept < total {
					r.Count(e, extension.Kept, kind+" effect", kept, total, "%d of %s kept at %s", kept, plural.S(total, kind+" effect"), plural.S(visible, "visible message"))
				}
				if edited > 0 {
					r.Count(e, extension.Moved, kind+" effect", edited, edited, "%s moved with the messages before it", plural.S(edited, kind+" effect"))
				}
			}, kind)
		}
	}, keyTimed)
}

// Begin marks the starts and ends of timed effects.
func (e *Extension) Begin(f *extension.Following) {
	e.eachEffect(f.Metadata, &f.Report, 0, func(effect *rawjson.Object) bool {
		for _, key := range [...]string{"start", "end"} {
			if n, ok := rawjson.Int(effect.Value(key)); ok {
				f.Mark(n)
			}
		}
		return true
	})
}

// Follow moves the first message that a prompt held, and the starts and ends of timed effects
// with the visible messages before them, so that the number of remaining turns stays. It drops
// effects of replies that are gone.
func (e *Extension) Follow(f *extension.Following) {
	e.About().Rows.Follow(e, f)
	left := f.Visible + f.Shows - f.Hides
	e.eachEffect(f.Metadata, &f.Report, left, func(effect *rawjson.Object) bool {
		start, ok := rawjson.Int(effect.Value("start"))
		if !ok {
			return true
		}
		to := start + f.Moved(start)
		judged := to
		if f.Tail() {
			judged = start
		}
		if f.Hides > 0 && late(effect, float64(judged), left) && (f.Tail() || !late(effect, float64(start), f.Visible)) {
			return false
		}
		move := func(key string, from, to int) {
			if from != to {
				effect.Set(key, strconv.AppendInt(nil, int64(to), 10))
			}
		}

		move("start", start, to)
		if end, ok := rawjson.Int(effect.Value("end")); ok {
			move("end", end, end+f.Moved(end))
		}
		return true
	})
}

// Rename moves timed effects with their lorebook. Their keys contain the book's name, and their
// hashes cover it and the whole entry. An effect follows only if the hash of its entry, as it
// was before names in it changed, under the book's old name is the one noted; else it is
// removed, since core would find no entry for it.
func (e *Extension) Rename(r *extension.Renaming) {
	was, is := r.Plain.UIDs(), r.To.UIDs()
	moved, lost := 0, 0
	r.Metadata.Edit(func(timed *rawjson.Object) {
		for _, kind := range kinds() {
			timed.Edit(func(effects *rawjson.Object) {
				for _, key := range effects.Keys() {
					world, uid, ok := effectOf(key, r.From.Name)
					entry := is[uid]
					if !ok || entry == nil && strings.Trim(uid, "0123456789") != "" {
						continue // of another book
					}
					raw := effects.Value(key)
					edited, follows := followEffect(raw, was[uid], entry, world, r.To.Name)
					switch {
					case !follows:
						effects.Unset(key)
						lost++
					case !bytes.Equal(edited, raw):
						effects.Unset(key)
						effects.Set(r.To.Name+"."+uid, edited)
						moved++
					}
				}
			}, kind)
		}
	}, keyTimed)

	if moved > 0 {
		r.Add(e, "%s moved to the lorebook's clone", plural.S(moved, "timed effect"))
	}
	if r.Lost += lost; lost > 0 {
		r.Add(e, "%s removed: the clone has no entry that fits", plural.S(lost, "timed effect"))
	}
}

// effectOf returns the lorebook's name in the key of a timed effect, as the chat writes it, and the
// entry's uid. It is false if the effect is not of the book called name.
func effectOf(key, name string) (world, uid string, ok bool) {
	if uid, ok := strings.CutPrefix(key, name+"."); ok {
		return name, uid, true
	}
	at := strings.LastIndexByte(key, '.')
	if at < 0 || !names.LeadsTo(key[:at], name) {
		return "", "", false
	}
	return key[:at], key[at+1:], true
}

// followEffect returns an effect with the hash of its entry as it is now. An entry that names
// its book itself has the same hash in all books.
func followEffect(effect, was, is []byte, from, to string) (edited []byte, ok bool) {
	if is == nil {
		return nil, false
	}
	if _, own := rawjson.Lookup(is, "world"); own {
		return effect, true
	}
	noted, isNumber := rawjson.Float(rawjson.Value(effect, "hash"))
	old, hashed := lorebook.EntryHash(was, from)
	if !hashed || !isNumber || noted != float64(old) {
		return nil, false
	}
	hash, _ := lorebook.EntryHash(is, to)
	edited, err := rawjson.SetPath(effect, strconv.AppendInt(nil, hash, 10), "hash")
	return edited, err == nil
}
