package rules

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// judgeSidecars judges the sidecars that Luker keeps beside a chat (FORMATS.md A1, A2), except
// floor logs, which are judged with the messages.
func judgeSidecars(around *Surroundings, c *Chat) {
	sidecars := around.Folder(c.Folder).Sidecars(c.Name)
	logged := map[string]bool{} // namespaces that have a log
	for _, sidecar := range sidecars {
		if sidecar.Kind == luker.FloorLog {
			logged[luker.DataOf(sidecar.Namespace)] = true
		}
	}
	for _, sidecar := range sidecars {
		switch sidecar.Kind {
		case luker.ChatSync:
			judgeChatSync(c, sidecar.Path)
		case luker.FloorLog:
		default:
			if _, damage := readSidecar(sidecar.Path); damage != "" {
				c.add(Finding{Rule: LukerState, Path: sidecar.Path, Index: noMessage, Message: "the sidecar cannot be read: " + damage})
			}
			if logged[sidecar.Namespace] {
				c.add(Finding{Rule: LukerState, Path: sidecar.Path, Index: noMessage, Message: "data beside its own floor log, which is what counts"})
			}
		}
	}
}

// judgeCharacterStates judges the state that Luker keeps beside the characters' cards
// (FORMATS.md A1.3).
func judgeCharacterStates(dir userdir.Dir) (out []Finding) {
	entries, _ := os.ReadDir(dir.Characters())
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		stems := luker.Stems(e.Name())
		if len(stems) == 0 || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir.Characters(), e.Name())
		add := func(message string) {
			out = append(out, Finding{Rule: LukerState, Severity: Warning, Path: path, Index: noMessage, Message: message})
		}
		if !slices.ContainsFunc(stems, func(stem string) bool { return names[stem+userdir.CardExtension] || names[stem+".json"] }) {
			add("its character's card is not there")
		}
		if _, damage := readSidecar(path); damage != "" {
			add("the state cannot be read: " + damage)
		}
	}
	return out
}

// judgeChatSync judges whether Luker's sidecar has a slug. It need not be the header's: what
// appends a message renews only this one, and other endpoints only the header's.
func judgeChatSync(c *Chat, path string) {
	raw, damage := readSidecar(path)
	switch _, ok := rawjson.Unquote(rawjson.Value(raw, "integrity")); {
	case damage != "":
		c.report(LukerSlug, c.HeaderLine, 0, "the sidecar chat_sync cannot be read: "+damage)
	case !ok:
		c.report(LukerSlug, c.HeaderLine, 0, "the sidecar chat_sync has no slug")
	}
}

// readSidecar reads a sidecar, which must be one JSON object; damage is why it cannot.
func readSidecar(path string) (_ []byte, damage string) {
	raw, _, err := safefile.Read(path)
	switch {
	case errors.Is(err, safefile.ErrNotRegular):
		return nil, "not a regular file"
	case err != nil:
		return nil, reason(err)
	}
	if d := jsonl.Check(raw); d != nil {
		return nil, d.Reason
	}
	if kind := rawjson.KindOf(raw); kind != rawjson.ObjectKind {
		return nil, kind.String() + ", not an object"
	}
	return raw, ""
}
