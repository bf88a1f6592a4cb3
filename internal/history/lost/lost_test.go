package lost

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/folder/align"
)

// chatOf writes a chat, a word a message: "u:" is the user's, "a/b" a message a with the
// swipes a and b, "!a" one of the program's own, "-" an empty one.
func chatOf(t *testing.T, words string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"chat_metadata":{"integrity":"slug"},"user_name":"unused"}`)
	for word := range strings.FieldsSeq(words) {
		text, isUser := strings.CutPrefix(word, "u:")
		text, program := strings.CutPrefix(text, "!")
		swipes := strings.Split(text, "/")
		if text == "-" {
			swipes[0] = ""
		}
		quoted := fmt.Sprintf("%q", swipes[0])
		if isUser { // however it is spelled
			quoted = strings.ReplaceAll(quoted, "x", `\u0078`)
		}
		fmt.Fprintf(&b, "\n"+`{"name":"any","is_user":%v,"mes":%s,"swipes":["%s"]`, isUser, quoted, strings.Join(swipes, `","`))
		if program {
			b.WriteString(`,"extra":{"type":"narrator"}`)
		}
		b.WriteByte('}')
	}
	path := filepath.Join(t.TempDir(), "chat.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompare(t *testing.T) {
	numbered := func(from, to int) string {
		var words []string
		for i := from; i < to; i++ {
			who := ""
			if i%2 == 1 {
				who = "u:"
			}
			words = append(words, fmt.Sprintf("%sm%d", who, i))
		}
		return strings.Join(words, " ")
	}
	tests := []struct {
		name, live, others, version string
		lost, reworded              int
	}{
		{"the same", "a u:b c", "", "a u:b c", 0, 0},
		{"grown since", "a u:b c u:d", "", "a u:b", 0, 0},
		{"the greeting over all", "m0", "", numbered(0, 800), 799, 0},
		{"emptied", "", "", "a u:b c", 3, 0},
		{"an edit", "a u:B c u:d", "", "a u:b c u:d", 0, 1},
		{"edits that follow each other", "a u:B C u:D e", "", "a u:b c u:d e", 0, 3},
		{"the greeting edited", "A u:b c", "", "a u:b c", 0, 1},
		{"the last one regenerated", "a u:b C", "", "a u:b c", 0, 1},
		{"the last one deleted", "a u:b", "", "a u:b c", 1, 0},
		{"rewound and continued", "a u:b C u:D", "", "a u:b c u:d", 2, 0},
		{"of another role", "a B c", "", "a u:b c", 1, 0},
		{"one deleted in the middle", "a c", "", "a u:b c", 1, 0},
		{"more deleted than written", "a u:B c", "", "a u:b x u:y c", 2, 1},
		{"swiped", "a u:b C/c", "", "a u:b c", 0, 0},
		{"in a branch", "a u:b", "a u:b c u:d", "a u:b c u:d", 0, 0},
		{"as a swipe of another chat", "a", "q/b", "a b", 0, 0},
		{"the program's own, and empty ones", "a", "", "a !p - !q", 0, 0},
		{"spelled otherwise", "a u:x", "", "a u:x", 0, 0},
		{"said by the other one", "a b", "", "a u:b", 1, 0},
		{"the same words again and again", "a u:y a u:y a u:y", "", "a u:y a u:z a u:y", 0, 1},
		{"in another order", "c u:b a", "", "a u:b c", 0, 0},
	}
	for _, tt := range tests {
		seed := maphash.MakeSeed()
		read := func(live Set, words string) *Version {
			v, err := NewReader(seed, live).Read(context.Background(), chatOf(t, words), true)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		chat, others := read(nil, tt.live), read(nil, tt.others)
		version := read(NewSet(chat.Texts, others.Texts), tt.version)
		lost, reworded := NewLive(chat.Texts).Compare(version.Texts, nil, false)
		if lost != tt.lost || reworded != tt.reworded || lost+reworded != version.Missing {
			t.Errorf("%s: lost %d, reworded %d of %d; want %d, %d", tt.name, lost, reworded, version.Missing, tt.lost, tt.reworded)
		}
		if version.Slug != "slug" {
			t.Errorf("%s: slug %q", tt.name, version.Slug)
		}
	}
}

// A large file, read in blocks by all processors, says the same as in one go.
func TestReadLarge(t *testing.T) {
	path := chatOf(t, strings.Repeat("one u:two three/four !five ", 20_000))
	seed := maphash.MakeSeed()
	small, err := NewReader(seed, nil).Read(context.Background(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(seed, nil)
	f, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := r.Read(context.Background(), path, true); err != nil || (left == nil) != (len(f) > 4<<20) {
		t.Fatalf("%v, %v", left, err)
	}
	if small.Messages != 80_000 || len(small.Texts) != 80_000 { // the swipe counts, the narrator does not
		t.Errorf("%d messages, %d texts", small.Messages, len(small.Texts))
	}
}

// Whatever a version and a chat hold, each missing message is lost or reworded, no more
// are reworded than there are live messages, and alignment crosses nothing.
func TestCompareRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	list := func(n, of int, flags Text) (all []Text) {
		for range n {
			t := Text(1+rng.IntN(of)) << 2
			all = append(all, t|Text(rng.IntN(2))|Text(rng.IntN(2))<<1&flags)
		}
		return all
	}
	for range 3000 {
		texts := list(rng.IntN(30), 1+rng.IntN(20), marked)
		if len(texts) > 0 {
			texts[0] &^= marked
		}
		live, set := NewLive(texts), NewSet(texts)
		version := list(rng.IntN(30), 1+rng.IntN(40), 0)
		missing := 0
		for i, v := range version {
			if !set.Has(v) {
				version[i] |= marked
				missing++
			}
		}
		last := align.Pair{A: -1, B: -1}
		for _, p := range live.align(version) {
			if p.B == len(version) && p.A == len(live.roles) {
				break
			}
			if p.B <= last.B || p.A <= last.A || version[p.B]&marked != 0 {
				t.Fatalf("%v behind %v: %x in %x", p, last, version, texts)
			}
			last = p
		}
		lost, reworded := live.Compare(version, nil, false)
		if lost+reworded != missing || reworded > len(live.roles) {
			t.Fatalf("lost %d, reworded %d of %d: %x in %x", lost, reworded, missing, version, texts)
		}
	}
}

// One text very often over is compared in no time.
func TestCompareRepeated(t *testing.T) {
	same := make([]Text, 200_000)
	for i := range same {
		same[i] = 4
	}
	if lost, reworded := NewLive(same).Compare(append([]Text{8 | marked}, same...), nil, false); lost != 1 || reworded != 0 {
		t.Errorf("lost %d, reworded %d", lost, reworded)
	}
}
