package isolate

import (
	"stchat/internal/extension/memorybook"
	"stchat/internal/rawjson"
)

// memoryBook deals with STMemoryBooks: a scene mark on a message that the branch does not
// have becomes null, and the last message that a memory covers is N at most. The rule is the
// one for messages that go (memorybook.Move), from sceneManager.js of SillyTavern-MemoryBooks
// at 0275d5a.
type memoryBook struct{ inMetadata }

func (*memoryBook) Name() string   { return memorybook.Key }
func (*memoryBook) Owns() []string { return []string{memorybook.Key} }

func (b *memoryBook) Apply(metadata *rawjson.Object, at Moment) []Change {
	r := &report{extension: b.Name()}
	for _, change := range memorybook.Trim(metadata, at.Messages()) {
		r.add("%s", change)
	}
	return r.changes
}
