package merge

import (
	"bytes"
	"slices"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/folder/family"
	"stchat/internal/jsonl/rawjson"
)

// compareHeaders tells which metadata differs, but for names. INTO's stays, or goes with the lines.
func (w *work) compareHeaders() {
	if w.into == nil || w.row.Sign != Behind && w.row.Sign != Ahead {
		return
	}
	here := w.from.metadata()
	w.renameOwn(here, w.into.name)
	w.user.metadata(here)
	differs := differing(w.into.metadata(), w.from.metadata(), here, !w.takesLines(), "integrity", "main_chat")
	switch {
	case len(differs) == 0:
	case w.takesLines():
		w.row.tell("with the lines comes FROM's metadata: " + keysTold(differs))
	default:
		w.row.tell("FROM's metadata differs and does not come: " + keysTold(differs))
	}
}

// differing returns the keys of theirs, but for some, whose values are others in ours, and also with the names of
// INTO, as in here; also those that ours lacks, if lacking.
func differing(ours, theirs, here *rawjson.Object, lacking bool, but ...string) []string {
	isLeftOut := func(key string) bool {
		if slices.Contains(but, key) {
			return true
		}
		own, has := ours.Get(key)
		if !has {
			return !lacking
		}
		own = rawjson.Compact(own)
		return bytes.Equal(own, rawjson.Compact(theirs.Value(key))) || bytes.Equal(own, rawjson.Compact(here.Value(key)))
	}
	return slices.DeleteFunc(theirs.Keys(), isLeftOut)
}

// header edits the metadata of a chat that comes beside INTO's, or with its lines: then INTO's slug and the keys
// that only INTO has stay.
func (w *work) header(md *rawjson.Object) {
	w.rename(md)
	w.slug = w.from.slug
	getsNewSlug := w.row.Sign == Parted || w.from.slug == "" && md.Has("integrity")
	if w.takesLines() {
		for key, value := range w.into.metadata().All() {
			if key != "main_chat" && !md.Has(key) {
				md.Set(key, value)
			}
		}
		w.slug = w.into.slug
		getsNewSlug = w.opt.BumpIntegrity || w.isLuker()
	}

	if getsNewSlug {
		w.slug = w.opt.Changes.NewUUID()
	}

	was, _ := rawjson.Unquote(md.Value("integrity"))
	switch w.slug {
	case was: // in whatever spelling
	case "":
		md.Unset("integrity")
	default:
		md.Set("integrity", rawjson.Quote(w.slug))
	}
}

// rename gives the metadata the names of INTO.
func (w *work) rename(md *rawjson.Object) {
	was, _ := rawjson.Unquote(md.Value("main_chat"))
	if w.parent != was {
		family.SetParent(md, w.parent, w.name)
	}
	w.renameOwn(md, w.name)
	w.user.metadata(md)
}

// renameOwn gives what extensions keep under the chat's own name another one.
func (w *work) renameOwn(md *rawjson.Object, to string) {
	all.Table().Replace(md, extension.Metadata, extension.OwnChat, w.from.name, to)
}
