package edit

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"stchat/internal/change/changeset"
)

// A text of the story is replaced; what pictures and links point to is not.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		left      int
	}{
		{`"Jon ![Jon](/user/images/Jon Holm/Jon.png) Jon"`, `"Ann ![Ann](/user/images/Jon Holm/Jon.png) Ann"`, 2},
		{`"[Jon](pages/Jon_(pilot).html) (Jon)"`, `"[Ann](pages/Jon_(pilot).html) (Ann)"`, 1},
		{`"![a](/a/Jon.png \"by Jon\")"`, `"![a](/a/Jon.png \"by Ann\")"`, 1},
		{`"<img src=\"/user/images/Jon/a.png\" title=\"Jon\">Jon"`, `"<img src=\"/user/images/Jon/a.png\" title=\"Ann\">Ann"`, 1},
		{`"<a href='Jon'>Jon</a> <img SRC=Jon.png alt=Jon>"`, `"<a href='Jon'>Ann</a> <img SRC=Jon.png alt=Ann>"`, 2},
		{`"see https://example.org/Jon?a=Jon, Jon"`, `"see https://example.org/Jon?a=Jon, Ann"`, 2},
		{`"\"HTTP://Jon.example\" said Jon"`, `"\"HTTP://Jon.example\" said Ann"`, 1},
		{`"<!-- auto-illustrator:promptId=Jon,imageUrl=/user/images/Jon Holm/a.png -->\nJon"`, `"<!-- auto-illustrator:promptId=Jon,imageUrl=/user/images/Jon Holm/a.png -->\nAnn"`, 2},
		{`"user/images/Jon Holm/a.png, Jon"`, `"user/images/Jon Holm/a.png, Ann"`, 1},
		{`"/user/files/Jon Jon"`, `"/user/files/Jon Ann"`, 1},
		{`"<div style=\"background: url(Jon.png)\">Jon"`, `"<div style=\"background: url(Jon.png)\">Ann"`, 1},
		{`"\u005d(Jon) \/user\/images\/Jon.png é \ud800 ](Jon) Jon"`, `"\u005d(Jon) \/user\/images\/Jon.png é \ud800 ](Jon) Ann"`, 3},
		{`"(Jon) [Jon] (Jon)"`, `"(Ann) [Ann] (Ann)"`, 0},
		{`"the user Jon, and Jon's images/Jon"`, `"the user Ann, and Ann's images/Ann"`, 0},
		{`"Jon\n<img src=\"Jon.png\">\nJon"`, `"Ann\n<img src=\"Jon.png\">\nAnn"`, 1},
		{`"Jon\nbackground: URL( Jon )\nJon"`, `"Ann\nbackground: URL( Jon )\nAnn"`, 1},
		{`"[and Jon](and Jon"`, `"[and Ann](and Jon"`, 1},
	} {
		sub := Substitution{Match: regexp.MustCompile(`Jon`), With: "Ann"}
		got, found := substituted([]byte(c.raw), prepared([]Substitution{sub}))
		if string(got) != c.want || found.left != c.left {
			t.Errorf("%s: %s, %d left; want %s, %d", c.raw, got, found.left, c.want, c.left)
		}

		sub.Everywhere = true
		_, everywhere := substituted([]byte(c.raw), prepared([]Substitution{sub}))
		if everywhere.left != 0 || everywhere.replaced != found.replaced+found.left {
			t.Errorf("%s: everywhere %d, and %d left; without addresses %d", c.raw, everywhere.replaced, everywhere.left, found.replaced)
		}
	}
}

// The chosen swipe says what the message says, so that its places count once; the other swipes count where
// they change, too.
func TestPlacesAreCountedOnce(t *testing.T) {
	const text = `{"user_name":"Jon","chat_metadata":{"note_prompt":"Jon and Jon"}}
{"name":"Jon","is_user":true,"mes":"Jon met Jon. https://Jon.example"}
{"name":"Mira","is_user":false,"mes":"Jon?","swipe_id":1,"swipes":["Who, Jon? Jon!","Jon?"]}
`
	for _, c := range []struct {
		about            string
		edit             func(ctx context.Context, opt Options, sub []Substitution) []*Result
		messages, header int
	}{
		{"texts", func(ctx context.Context, opt Options, sub []Substitution) []*Result {
			return Set(ctx, SetOptions{Options: opt, Sub: sub})
		}, 3, 0},
		{"swipes", func(ctx context.Context, opt Options, sub []Substitution) []*Result {
			return Set(ctx, SetOptions{Options: opt, Sub: sub, AllSwipes: true})
		}, 5, 0},
		{"everything", func(ctx context.Context, opt Options, sub []Substitution) []*Result {
			return Replace(ctx, ReplaceOptions{Options: opt, Sub: sub})
		}, 6, 3},
	} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		opt := Options{Chats: []string{path}, Terms: Terms{ExpectMessages: -1, Changes: changeset.Options{DryRun: true}}}
		r := c.edit(t.Context(), opt, []Substitution{{Match: regexp.MustCompile(`Jon`), With: "Ann"}})[0]
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if r.Places != c.messages || r.Header != c.header {
			t.Errorf("%s: %d in messages, %d in the header; want %d, %d", c.about, r.Places, r.Header, c.messages, c.header)
		}
		if len(r.Facts) != 1 || r.Facts[0].Count != 1 {
			t.Errorf("%s: %v, want one place in an address", c.about, r.Facts)
		}
	}
}
