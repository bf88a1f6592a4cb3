package keep

import (
	"os"
	"strings"
	"testing"

	"stchat/internal/history"
)

// A parent is also known if only a link says so, and nothing else in the folder hints at
// kinship: whether both chats are new, or the store has the linking one already.
func TestParentByLinkAlone(t *testing.T) {
	said := func(text, more string) string {
		return `{"name":"Mira","mes":"` + text + `","send_date":"2026-01-01T00:00:00Z"` + more + `}`
	}
	for _, link := range []string{
		`,"extra":{"branches":["by link"]}`, `,"extra":{"bookmark_link":"by link"}`,
		`,"swipe_info":[{"extra":{"bookmark_link":"by link"}}]`,
	} {
		for _, known := range []bool{false, true} {
			u := newUser(t)
			write := func(name string, messages ...string) {
				t.Helper()
				lines := append([]string{`{"chat_metadata":{"integrity":"` + name + `"}}`}, messages...)
				if err := os.WriteFile(u.path(name), []byte(strings.Join(lines, "\n")), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			write("M", said("one", ""), said(strings.Repeat("long ", headSize), link), said("three", ""))
			write("other", said("nothing of the others", ""))
			if known {
				u.snapshot()
			}
			write("by link", said("another", ""))
			u.snapshot()
			if got := u.parent("by link"); got != "M" {
				t.Errorf("%s, in the store before: %v: it comes from %q", link, known, got)
			}
			if got := u.parent("other"); got != "" {
				t.Errorf("the other chat comes from %q", got)
			}
		}
	}
}

// parent returns the name of the chat from which the store has another.
func (u *user) parent(name string) string {
	u.t.Helper()
	store, err := history.OpenRead(u.t.Context(), StoreOf(u.root, ""))
	if err != nil {
		u.t.Fatal(err)
	}
	defer store.Close()
	all, err := store.Chats(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	names, parents := map[int64]string{}, map[string]int64{}
	for _, c := range all {
		names[c.ID], parents[c.Name] = c.Name, c.Parent
	}
	return names[parents[name]]
}
