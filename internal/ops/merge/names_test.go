package merge

import "testing"

func TestNextName(t *testing.T) {
	for name, want := range map[string]string{
		"A": "A (2)", "A (2)": "A (3)", "A - Branch #1": "A - Branch #2", "A - Checkpoint #9": "A - Checkpoint #10",
		"A (x)": "A (x) (2)", "A__phone": "A__phone (2)", "A (99999999999)": "A (99999999999) (2)",
	} {
		if got := nextName(name, second); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
}

func TestLabel(t *testing.T) {
	for _, tt := range []struct{ into, from, want string }{
		{"/pc/data/default-user/chats/Mira", "/phone/data/default-user/chats/Mira", "phone"},
		{"/pc/default-user", "/pc/old/default-user", "old"},
		{"/pc/chats/Mira/A.jsonl", "/tmp/A.jsonl", "tmp"},
		{"/a/b", "/a/b/chats", "theirs"},
	} {
		if got := label(tt.into, tt.from); got != tt.want {
			t.Errorf("%s, %s: %q, not %q", tt.into, tt.from, got, tt.want)
		}
	}
}

// A plus in the name of a picture is a plus, and in an address a space.
func TestAvatar(t *testing.T) {
	u := &user{stems: map[string]string{"A+B": "A+B1", "A B": "A B2", "C": "C"}}
	for text, want := range map[string]string{
		"A+B.png": "A+B1.png", "A B.png": "A B2.png", "C.png": "C.png", "other.png": "other.png",
		"/thumbnail?type=avatar&file=A%2BB.png": "/thumbnail?type=avatar&file=A%2BB1.png", "/thumbnail?type=avatar&file=A%20B.png": "/thumbnail?type=avatar&file=A%20B2.png",
		"/thumbnail?type=persona&file=A%20B.png": "/thumbnail?type=persona&file=A%20B.png", "/thumbnail?type=avatar&file=%zz.png": "/thumbnail?type=avatar&file=%zz.png",
	} {
		if got := u.avatar(text); got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
}
