package repair

import (
	"context"
	"errors"
	"testing"

	"stchat/internal/folder/library"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
)

// A folder that could not be read says nothing about where a missing name went: the chat is not
// repaired without it.
func TestLinksOfAnUnreadFolderAreNotRepaired(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	dangling := rules.SetOf(rules.DanglingBranch)
	p := &plan{chat: &rules.Chat{Folder: t.TempDir()}, want: dangling}
	p.links.Target = func(string) (string, bool) { return "", false }
	p.links.Remove = dangling
	r := &renames{lib: new(library.Library), folders: map[string]kin{}}
	p.links.Renamed = r.in(ended, p.chat, &p.failed)

	on := &pass{plan: p, lost: &quarantine{}, src: jsonl.Bytes([]byte(`{"name":"Mira","is_user":false,"mes":"x","extra":{"branches":["gone"]}}`))}
	var failed error
	for _, err := range on.edits(t.Context()) {
		failed = errors.Join(failed, err)
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("the error of reading the folder is %v", failed)
	}
}
