package repair

import (
	"testing"
	"time"

	"stchat/internal/extension"
	"stchat/internal/extension/exttest"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl/rawjson"
)

// An extension repairs what it judged, if that is wanted.
func TestExtensionRepairs(t *testing.T) {
	for want, left := range map[rules.Set]string{rules.SetOf(rules.BeyondEnd): `{"fake":{}}`, {}: `{"fake":{"at":4}}`} {
		md, err := rawjson.ParseObject([]byte(`{"fake":{"at":4}}`))
		if err != nil {
			t.Fatal(err)
		}
		p := &plan{state: want, chat: &rules.Chat{Messages: 4, Extensions: []extension.Extension{&exttest.Fake{}}}}
		changes, _ := p.repairState(md, time.Now())
		if got := string(md.Bytes()); got != left || (len(changes) == 1) != (!want.IsEmpty()) {
			t.Errorf("%s after %v", got, changes)
		}
	}
}
