package rules

import (
	"testing"

	"stchat/internal/extension"
	"stchat/internal/extension/exttest"
	"stchat/internal/rawjson"
)

// An extension in the list is asked to judge.
func TestListedExtension(t *testing.T) {
	md, err := rawjson.ParseObject([]byte(`{"fake":{"at":4}}`))
	if err != nil {
		t.Fatal(err)
	}
	for messages, want := range map[int]int{4: 1, 5: 0} {
		found := 0
		judgeExtensions([]extension.Extension{&exttest.Fake{}}, md, &extension.Judging{Messages: messages, Report: func(rule, _ string) {
			if id, err := Find(rule); err == nil && id == BeyondEnd {
				found++
			}
		}})
		if found != want {
			t.Errorf("%d findings in a chat of %d messages", found, messages)
		}
	}
}
