package edit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/choose"
)

// What is substituted while the chat is read is what is substituted in messages that were chosen
// before.
func TestRewordAll(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(4, seed))
		text, _ := chatText(t, r, false)
		if seed%20 == 0 { // more than one block
			for i := range 3000 {
				text += fmt.Sprintf("\n"+`{"mes":"long line %d","swipes":["long line %d"],"swipe_id":%d}`, i, i, i%2) + fmt.Sprintf("%*s", r.IntN(500), "")
			}
		}
		set := func(dry bool, c choose.Choice) (*edit.Result, string) {
			path := filepath.Join(t.TempDir(), "c.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			opt := edit.SetOptions{Options: options(path), Choice: c}
			opt.Changes.DryRun = dry
			opt.Sub = []edit.Substitution{{Match: regexp.MustCompile([]string{"l[io]ne?", "n", "é|e", "none"}[seed%4]), With: "<$0>"}}
			result := edit.Set(t.Context(), opt)[0]
			got, err := os.ReadFile(path)
			if result.Err != nil || err != nil {
				t.Fatalf("seed %d: %v, %v", seed, result.Err, err)
			}
			result.Doc.Path = ""
			return result, string(got)
		}
		whole, chosen := choose.Choice{Ranges: []choose.Range{choose.From(0)}}, choose.Choice{First: 1 << 20}
		want, wantText := set(false, chosen)
		got, gotText := set(false, whole)
		if gotText != wantText {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(wantText, gotText))
		}
		for _, both := range [][2]any{{want.Doc.Changed, got.Doc.Changed}, {want.Doc.Messages, got.Doc.Messages}, {want.Doc.Bytes, got.Doc.Bytes}, {want.Doc.Unchanged, got.Doc.Unchanged}} {
			if diff := cmp.Diff(both[0], both[1], cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
		}
		dryWant, _ := set(true, chosen)
		dryGot, _ := set(true, whole)
		if diff := cmp.Diff(dryWant.Diffs, dryGot.Diffs); diff != "" || dryGot.Doc.Bytes != want.Doc.Bytes {
			t.Fatalf("seed %d: a dry run says %d bytes, want %d, or else\n%s", seed, dryGot.Doc.Bytes, want.Doc.Bytes, diff)
		}
	}
}

func TestRewordNothing(t *testing.T) {
	for text, want := range map[string]error{`{"chat_metadata":{}}`: choose.ErrNone, `{"chat_metadata":{}}` + "\n{\"mes\":\"a\"}\nx": nil} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		opt := edit.SetOptions{Options: options(path), Sub: []edit.Substitution{{Match: regexp.MustCompile("a"), With: "b"}}, Choice: choose.Choice{Ranges: []choose.Range{choose.From(0)}}}
		result := edit.Set(t.Context(), opt)[0]
		got, err := os.ReadFile(path)
		if result.Err == nil || want != nil && !errors.Is(result.Err, want) || err != nil || string(got) != text {
			t.Errorf("%s: error %v, the chat is %s", text, result.Err, got)
		}
	}
}
