package rules

import (
	"testing"

	"stchat/internal/extension"
	"stchat/internal/extension/exttest"
	"stchat/internal/jsonl/rawjson"
)

// An extension is asked to judge, and repair gets it if there is something to do.
func TestExtensionJudges(t *testing.T) {
	md, err := rawjson.ParseObject([]byte(`{"fake":{"at":4}}`))
	if err != nil {
		t.Fatal(err)
	}
	for messages, want := range map[int]int{4: 1, 5: 0} {
		c := &Chat{checked: true, Messages: messages}
		s := &scan{chat: c, head: head{metadata: md}, hasHead: true, judge: lineJudge{extensions: []extension.Extension{&exttest.Fake{}}}}
		s.judgeState()
		if found := c.Findings(); len(found) != want || want > 0 && found[0].Rule != BeyondEnd {
			t.Errorf("%v in a chat of %d messages", found, messages)
		}
		if len(c.Extensions) != want {
			t.Errorf("%d extensions to mend by in a chat of %d messages", len(c.Extensions), messages)
		}
	}
}

// A finding by a rule that does not exist is not dropped.
func TestUnknownRule(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an unknown rule was let pass")
		}
	}()
	Named("no-such-rule")
}
