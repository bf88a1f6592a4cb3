package mend

import (
	"time"

	"stchat/internal/extension"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// stateMender mends what extensions keep in a chat's metadata.
type stateMender struct {
	want rules.Set
	chat *rules.Chat
	now  time.Time
}

// mend edits the metadata. line, which may be nil, brings a message in step.
func (m *stateMender) mend(metadata *rawjson.Object) (changes []change, line func([]byte) ([]byte, extension.Mended)) {
	in := &extension.Mending{
		Metadata: metadata, Messages: m.chat.Messages, Now: m.now,
		Wants: func(rule string) bool { return m.want.Has(rules.Named(rule)) },
		Note:  func(one extension.Mended) { changes = append(changes, changeOf(one)) },
	}
	for _, e := range m.chat.Extensions {
		e.Mend(in)
	}
	return changes, in.Line
}

func changeOf(m extension.Mended) change {
	return change{rule: rules.Named(m.Rule), text: m.Text, what: m.What, lost: m.Lost}
}
