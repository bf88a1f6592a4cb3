package dataset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stchat/internal/folder/family"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
)

func chatOf(seed message.Seed, name string, texts ...string) *family.Chat {
	c := &family.Chat{Name: name}
	for i, text := range texts {
		c.Messages = append(c.Messages, family.Message{ID: message.NewIdentifier(seed).Identity([]byte(`"A"`), nil, []byte(text), nil, false), Date: int64(1000*len(texts) + i)})
	}
	return c
}

// What is left out is the beginning of a chat that stays, or equal to it; what stays is nobody's
// beginning; and each place in the tree of messages is written once.
func TestShares(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	seed := message.NewSeed()
	for range 500 {
		var chats []*family.Chat
		texts := map[string][]string{}
		for i := range 1 + random.IntN(6) {
			name := fmt.Sprint("c", i)
			for range 1 + random.IntN(5) {
				texts[name] = append(texts[name], fmt.Sprint(random.IntN(2)))
			}
			chats = append(chats, chatOf(seed, name, texts[name]...))
		}
		begins := func(a, b string) bool {
			return len(texts[a]) <= len(texts[b]) && slices.Equal(texts[a], texts[b][:len(texts[a])])
		}
		result := shares(chats)
		written := map[string]bool{}
		all := map[string]bool{}
		for _, c := range chats {
			for n := range texts[c.Name] {
				all[strings.Join(texts[c.Name][:n+1], "")] = true
			}
			if l := result[c]; l.begins != "" {
				if !begins(c.Name, l.begins) || l.begins == c.Name {
					t.Fatalf("%v: %s is no beginning of %s", texts, c.Name, l.begins)
				}
				if whole := slices.IndexFunc(chats, func(c *family.Chat) bool { return c.Name == l.begins }); result[chats[whole]].begins != "" {
					t.Fatalf("%v: %s is left out for %s, which is left out, too", texts, c.Name, l.begins)
				}
				continue
			}
			for _, other := range chats {
				if other != c && begins(c.Name, other.Name) && (len(texts[other.Name]) > len(texts[c.Name]) || other.Name < c.Name) {
					t.Fatalf("%v: %s stays, and %s has it", texts, c.Name, other.Name)
				}
			}
			for n := result[c].shared; n < len(texts[c.Name]); n++ {
				at := strings.Join(texts[c.Name][:n+1], "")
				if written[at] {
					t.Fatalf("%v: %s is written twice", texts, at)
				}
				written[at] = true
			}
		}
		if len(written) != len(all) {
			t.Fatalf("%v: %d of %d are written", texts, len(written), len(all))
		}
	}
}

func TestSubstitute(t *testing.T) {
	list := substitutions([]string{"Tom"}, []string{"Mira", "Mira Holm", ""}, true)
	for in, want := range map[string]string{
		"Tom, Tomas and Tom's Mira.": "{{user}}, Tomas and {{user}}'s {{char}}.",
		"Mira Holm, Mira":            "{{char2}}, {{char}}",
		"TomMira áTom Tom\u0301":     "TomMira áTom Tom\u0301",
		"Tom":                        "{{user}}",
		"":                           "",
	} {
		if got := substitute(in, list); got != want {
			t.Errorf("%q is %q, not %q", in, got, want)
		}
	}
	if got := plain("Añn e-1_" + strings.Repeat("x", 80)); got != "A_n_e-1_"+strings.Repeat("x", 56) {
		t.Errorf("%q", got)
	}
}

// cutter shortens a chat as soon as a part of it is written.
type cutter struct {
	strings.Builder
	path string
}

func (c *cutter) Write(p []byte) (int, error) {
	if c.Len() > 100 {
		_ = os.Truncate(c.path, 200)
	}
	return c.Builder.Write(p)
}

// A chat that changes while it is written ends the output: nothing stands behind half a line.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b"} {
		line := `{"name":"A","is_user":%t,"mes":"` + strings.Repeat("x", 100) + `"}` + "\n"
		text := `{"chat_metadata":{}}` + "\n" + strings.Repeat(fmt.Sprintf(line+line, true, false), 5000)
		paths = append(paths, filepath.Join(dir, name+".jsonl"))
		if err := os.WriteFile(paths[len(paths)-1], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := &cutter{path: paths[0]}
	opt := Options{Format: OpenAI, Export: ops.Export{List: ops.List{Paths: paths}, Stdout: out, Meter: new(progress.Meter)}}
	err := Export(t.Context(), opt, func(*Result) error { return nil })
	if err == nil || strings.Count(out.String(), `{"messages"`) != 1 {
		t.Errorf("%v: %.200s", err, out.String())
	}
}
