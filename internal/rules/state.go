package rules

import (
	"fmt"
	"strconv"
	"strings"

	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// State is what repair must know about a chat's messages to mend what extensions keep in
// its metadata.
type State struct {
	Scenes map[int]bool // by message at which a version of the running recap is made: whether it has a scene recap
	Places illustrator.Places
}

// OnState returns the rules about what extensions keep in the metadata that repair mends.
func OnState() Set {
	return SetOf(PendingOld, RecapScene, RecapVersion, BeyondEnd, MemoryBook, PromptShape, PromptDangling, PromptDrift)
}

// judgeVersions judges at which messages the versions of the running recap are made, as
// cleanup_invalid_running_recaps does (FORMATS.md B2.2).
func judgeVersions(c *Chat, md *rawjson.Object, scenes map[int]bool, report func(ID, string)) {
	running, _ := autorecap.RunningIn(md)
	for version := range running.Versions() {
		name := "version " + clip(orNothing(version.NumberText())) + " of the running recap"
		switch scene, ok := version.SceneNumber(); {
		case !ok:
			report(RecapScene, name+" is made at no message")
		case scene >= float64(c.Messages):
			report(BeyondEnd, name+" is made at a message beyond the last one")
		case !scenes[int(scene)] || scene != float64(int(scene)):
			report(RecapScene, fmt.Sprintf("%s is made at message %s, which has no scene recap", name, strconv.FormatFloat(scene, 'g', -1, 64)))
		}
		if before, ok := version.Before(); ok && before >= float64(c.Messages) {
			report(BeyondEnd, name+" follows a scene that ends beyond the last message")
		}
	}
}

// judgeDrifts judges whether prompts of Auto-Illustrator belong to the messages that they say.
func judgeDrifts(c *Chat, w *watch) {
	if w.registry == nil {
		return
	}
	for _, d := range w.registry.Drifts(w.places) {
		f := Finding{Rule: PromptDrift, Line: c.HeaderLine, Index: noMessage, Message: d.Fault}
		if d.Why != "" {
			f.mend = "put it right by hand: " + d.Why
		}
		c.add(f)
	}
}

// judgeIndex judges whether the entries that the chat's index names are in its lorebook.
func judgeIndex(around *Surroundings, c *Chat, md *rawjson.Object, report func(ID, string)) {
	if c.Lorebook == "" || !c.HasDir {
		return
	}
	var b *book
	for uid := range autorecap.Indexed(md) {
		if b == nil {
			if b = around.book(c.Dir, c.Lorebook); b.missing || b.err != nil {
				return
			}
		}
		if !b.holds(uid) {
			report(RegistryIndex, fmt.Sprintf("the index names uid %s, which no entry of %q has", clip(uid), clip(c.Lorebook)))
		}
	}
}

// judgePictures judges whether the images that prompts made exist.
func judgePictures(c *Chat, registry *illustrator.Registry, dir userdir.Dir) {
	registry.Pictures(func(raw []byte) {
		if strings.HasPrefix(string(raw[:min(len(raw), 6)]), `"data:`) {
			return
		}
		address, ok := rawjson.Unquote(raw)
		if !ok || address == "" {
			return
		}
		if exists, ours := dir.Serves(address); !exists && ours {
			c.report(MissingAttachment, c.HeaderLine, 0, fmt.Sprintf("%q of a prompt is not there", clip(address)))
		}
	})
}
