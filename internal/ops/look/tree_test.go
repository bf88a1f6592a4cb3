package look

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/ops"
	"stchat/internal/show/treeview"
)

// TestWholeTexts gives a page all own texts up to a number of bytes, to the byte, and otherwise
// the beginnings of the first and the last.
func TestWholeTexts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "chats", "Mira")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	const messages, long = 100, 300
	text := "*two*\nlines" + strings.Repeat("x", long-11)
	head := `{"user_name":"You","character_name":"Mira","chat_metadata":{%s}}` + "\n"
	lines := ""
	for i := range messages {
		lines += fmt.Sprintf(`{"name":"Mira","is_user":false,"mes":%q,"send_date":"2026-03-01T18:%02d:%02d.000Z"}`+"\n", text, i/60, i%60)
	}
	for name, content := range map[string]string{
		"A": fmt.Sprintf(head, "") + lines, "B": fmt.Sprintf(head, `"main_chat":"A"`) + lines, // which has no messages of its own
	} {
		if err := os.WriteFile(filepath.Join(folder, name+".jsonl"), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const all = messages*long + long // with the last message of B
	for _, try := range []struct {
		whole int
		is    bool
		texts string
	}{{0, false, "6 1"}, {all - 1, false, "6 1"}, {all, true, "100 1"}} {
		res, err := Tree(context.Background(), TreeOptions{List: ops.List{Paths: []string{folder}}, Page: true, Preview: 20, Whole: try.whole})
		if err != nil || len(res.Errs) > 0 {
			t.Fatal(err, res.Errs)
		}
		chats := res.Tree.Owners[0].Chats
		if got := fmt.Sprint(len(chats[0].Texts), " ", len(chats[1].Texts)); got != try.texts || res.Tree.Whole != try.is {
			t.Errorf("%d bytes: %s texts, whole: %t", try.whole, got, res.Tree.Whole)
		}
		if got := chats[0].Texts[0].Text; (got == text) != try.is {
			t.Errorf("%d bytes: the first text is %q", try.whole, got)
		}
		var page strings.Builder
		if err := treeview.HTML(&page, res.Tree); err != nil || !strings.Contains(page.String(), `"t":"two`) || strings.Contains(page.String(), "*two*") {
			t.Errorf("%d bytes: the page has texts as they are stored, not as they are read: %v", try.whole, err)
		}
		if got := *chats[0].Preview.Last; len(got) > 40 {
			t.Errorf("%d bytes: the preview is %q", try.whole, got)
		}
	}
}
