package plural

import "testing"

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 2: "2 entries"} {
		if got := Of(n, "entry", "entries"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := S(1, "chat") + ", " + S(5, "chat"); got != "1 chat, 5 chats" {
		t.Errorf("got %q", got)
	}
}
