package isolate

import (
	"stchat/internal/extension/illustrator"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// autoIllustrator deals with Auto-Illustrator (FORMATS.md C3): prompts of messages
// that the branch does not have go, and so do the references to them from roots,
// children and images, and the gallery's open messages. A prompt whose parent goes
// becomes a root, as in upstream's deletePromptNode.
type autoIllustrator struct{ inMetadata }

func (*autoIllustrator) Name() string   { return illustrator.Key }
func (*autoIllustrator) Owns() []string { return []string{illustrator.Key} }

func (a *autoIllustrator) Apply(metadata *rawjson.Object, at Moment) []Change {
	r := &report{extension: a.Name()}
	did := illustrator.Prune(metadata, at.Messages(), nil)
	if did.Gone > 0 {
		r.add("%d of %s kept", did.Prompts-did.Gone, plural.S(did.Prompts, "prompt"))
	}
	if did.ImagesGone > 0 {
		r.add("%d of %s kept", did.Images-did.ImagesGone, plural.S(did.Images, "image"))
	}
	same := func(message int) (int, bool) { return message, true }
	if total, kept := illustrator.MoveOpen(metadata, at.Messages(), same, nil); kept < total {
		r.add("%d of %s of the gallery kept", kept, plural.S(total, "open message"))
	}
	return r.changes
}
