package follow

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/isolate"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/choose"
)

// chat is a chat in memory.
type chat struct {
	metadata string
	lines    []string
}

func source(lines []string) choose.Source {
	return choose.Source{Source: jsonl.Bytes([]byte(strings.Join(lines, "\n")))}
}

// apply makes a change, the new messages given.
func (c chat) apply(t *testing.T, change Change, fresh []string) (chat, *State, []extension.Change) {
	t.Helper()
	change.Messages = len(c.lines)
	md, err := rawjson.ParseObject([]byte(c.metadata))
	if err != nil {
		t.Fatal(err)
	}
	state, err := Look(t.Context(), source(c.lines), &change, md, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.sameWithFacts(t, &change, state)
	said := state.Metadata(md)
	edited := slices.Clone(c.lines)
	for _, l := range state.Lines() {
		if got := source(c.lines); string(must(got.Section(l.Off, l.Len))) != c.lines[l.Index] {
			t.Fatalf("message %d is not at %d", l.Index, l.Off)
		}
		edited[l.Index] = string(state.Line(l.Index, []byte(edited[l.Index])))
	}
	for _, i := range change.Hidden {
		edited[i] = strings.Replace(edited[i], `"is_system":false`, `"is_system":true`, 1)
	}
	for _, i := range change.Shown {
		edited[i] = strings.Replace(edited[i], `"is_system":true`, `"is_system":false`, 1)
	}
	after := chat{metadata: string(md.Bytes())}
	for i := range len(edited) + 1 {
		for k, in := range change.Inserted {
			if in.At == i {
				after.lines = append(after.lines, fresh[k])
			}
		}
		if i < len(edited) && !slices.Contains(change.Gone, i) {
			after.lines = append(after.lines, edited[i])
		}
	}
	return after, state, said
}

// sameWithFacts holds that a look at facts that were read beforehand finds the same.
func (c chat) sameWithFacts(t *testing.T, change *Change, want *State) {
	t.Helper()
	find := func(facts *Facts, state *State) (found []any) {
		md, err := rawjson.ParseObject([]byte(c.metadata))
		if err != nil {
			t.Fatal(err)
		}
		if state == nil {
			if state, err = Look(t.Context(), choose.Source{}, change, md, facts); err != nil {
				t.Fatal(err)
			}
		}
		found = append(found, state.Metadata(md), string(md.Bytes()), state.Lost(), state.Warnings())
		for _, l := range state.Lines() {
			if edited := string(state.Line(l.Index, []byte(c.lines[l.Index]))); edited != c.lines[l.Index] {
				found = append(found, l, edited)
			}
		}
		return found
	}
	md, err := rawjson.ParseObject([]byte(c.metadata))
	if err != nil {
		t.Fatal(err)
	}
	facts := factsOf(t, NewReader(md, true), c.lines)
	if len(facts.Swipes()) != len(c.lines) {
		t.Errorf("swipes of %d messages, not of %d", len(facts.Swipes()), len(c.lines))
	}
	if diff := cmp.Diff(find(nil, want), find(facts, nil)); diff != "" {
		t.Errorf("with facts read beforehand (-without +with):\n%s", diff)
	}
}

func factsOf(t *testing.T, r *Reader, lines []string) *Facts {
	t.Helper()
	facts := NewFacts()
	keys := r.keys()
	numbers := make([]int, len(keys))
	for i := range numbers {
		numbers[i] = i
	}
	err := jsonl.Map(t.Context(), source(lines).Source, jsonl.MapOptions{Limit: -1, Keys: jsonl.NewKeys(keys...)}, func(l *jsonl.Line, batch *[]Fact) {
		*batch = append(*batch, r.read(l, numbers))
	}, func(batch *[]Fact, _ jsonl.Base, _ jsonl.Damages) error {
		facts.add(r, *batch)
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestFactsThatTakeTooMuch holds that a chat is read after all where its facts were too many
// to be kept.
func TestFactsThatTakeTooMuch(t *testing.T) {
	text := strings.Repeat("x", 1000)
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf(`{"mes":"%d","extra":{"bookmark_link":"%s%d"}}`, i, text, i))
	}
	md, err := rawjson.ParseObject([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	facts := factsOf(t, NewReader(md, false), lines)
	if facts.held != nil {
		t.Errorf("the facts of %d messages are kept", len(facts.held))
	}
	state, err := Look(t.Context(), source(lines), &Change{Messages: len(lines), Gone: []int{1999}}, md, facts)
	if err != nil {
		t.Fatal(err)
	}
	if lost := state.Lost(); len(lost) != 1 || lost[0].Name != text+"1999" {
		t.Errorf("lost are %v", lost)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestMaps(t *testing.T) {
	c := Change{Messages: 8, Gone: []int{0, 3, 4, 7}, Inserted: []Insert{{At: 2}, {At: 5}, {At: 8}}}
	type row struct{ at, index, up, down int }
	for _, want := range []row{{1, 0, 0, 0}, {2, 2, 2, 2}, {3, -9, 4, 2}, {4, -9, 4, 2}, {5, 4, 4, 4}, {6, 5, 5, 5}, {7, -9, -1, 5}, {0, -9, 0, -1}} {
		got := row{want.at, -9, -1, -1}
		if !c.Goes(want.at) {
			got.index = c.Map(want.at)
		}
		if to, ok := c.Up(want.at); ok {
			got.up = to
		}
		if to, ok := c.Down(want.at); ok {
			got.down = to
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if c.Left() != 7 || c.FirstMoved() != 0 || c.Tail() {
		t.Errorf("left %d, first %d, tail %v", c.Left(), c.FirstMoved(), c.Tail())
	}
	if tail := (Change{Messages: 8, Gone: []int{6, 7}}); !tail.Tail() {
		t.Error("the end is no tail")
	}
	if end := (Change{Messages: 8, Inserted: []Insert{{At: 8}}}); end.Moves() {
		t.Error("a message at the end moves others")
	}
}

// world makes a chat that has state of all kinds. marked is what every message is known
// by; ids of prompts are as the extension makes them.
func world(random *rand.Rand, n int) chat {
	var c chat
	visible := 0
	var versions, nodes, roots, sticky []string
	for i := range n {
		system := random.IntN(4) == 0
		extra := []string{fmt.Sprintf(`"n":%d`, random.Int64())}
		mes := fmt.Sprintf("text %d", random.Int64())
		if random.IntN(3) == 0 {
			start := random.IntN(i + 1)
			extra = append(extra, fmt.Sprintf(`"auto_recap_memory":{"scene_break":true,"scene_recap_memory":"r","scene_recap_metadata":{"0":{"startIdx":%d,"endIdx":%d}}}`, start, i))
			versions = append(versions, fmt.Sprintf(`{"version":%d,"prev_scene_index":%d,"new_scene_index":%d,"content":"c"}`, len(versions), start, i))
		}
		if random.IntN(3) == 0 {
			id := illustrator.PromptID("door", i, 0)
			nodes = append(nodes, fmt.Sprintf(`%q:{"id":%q,"messageId":%d,"promptIndex":0,"text":"door","parentId":null,"childIds":[]}`, id, id, i))
			roots = append(roots, fmt.Sprintf("%q", id))
			mes += fmt.Sprintf(` <!-- auto-illustrator:promptId=%s,imageUrl=x -->`, id)
		}
		if !system {
			if start := visible; random.IntN(3) == 0 {
				sticky = append(sticky, fmt.Sprintf(`"B.%d":{"hash":1,"start":%d,"end":%d}`, i, start, start+1+random.IntN(12)))
			}
			visible++
		}
		c.lines = append(c.lines, fmt.Sprintf(`{"name":"A","is_user":false,"is_system":%v,"mes":%q,"extra":{%s}}`, system, mes, strings.Join(extra, ",")))
	}
	c.metadata = fmt.Sprintf(`{"lastInContextMessageId":%d,"timedWorldInfo":{"sticky":{%s}},"auto_recap_running_scene_recaps":{"chat_id":"x","current_version":%d,"versions":[%s]},`+
		`"auto_illustrator":{"promptRegistry":{"nodes":{%s},"imageToPromptId":{},"rootPromptIds":[%s]},"galleryWidget":{"expandedMessages":[%d]}},`+
		`"STMemoryBooks":{"sceneStart":%d,"sceneEnd":%d,"highestMemoryProcessed":%d},"own":{"messageId":3}}`,
		random.IntN(n), strings.Join(sticky, ","), max(0, len(versions)-1), strings.Join(versions, ","), strings.Join(nodes, ","), strings.Join(roots, ","), random.IntN(n),
		random.IntN(n/2+1), n/2+random.IntN(n-n/2), random.IntN(n))
	return c
}

// same compares two chats by what they mean.
func same(t *testing.T, what string, want, got chat) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want.metadata), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got.metadata), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Fatalf("%s: metadata (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(want.lines, got.lines); diff != "" {
		t.Fatalf("%s: messages (-want +got):\n%s", what, diff)
	}
}

// some chooses messages, in order.
func some(random *rand.Rand, n int) (list []int) {
	for i := range n {
		if random.IntN(4) == 0 {
			list = append(list, i)
		}
	}
	return list
}

// A prompt that keeps its id, since another has the one that it would get, keeps that from a third: no two
// prompts may have one id.
func TestPromptsThatKeepTheirIDs(t *testing.T) {
	id := func(message int) string { return illustrator.PromptID("t", message, 0) }
	node := func(id string, message int) string {
		return fmt.Sprintf(`%q:{"id":%[1]q,"messageId":%d,"promptIndex":0,"text":"t","parentId":null}`, id, message)
	}
	registry := func(nodes ...string) string {
		return fmt.Sprintf(`{"auto_illustrator":{"promptRegistry":{"nodes":{%s},"imageToPromptId":{"b.png":%q,"a.png":%q,"c.png":%q}}}}`, strings.Join(nodes, ","), id(5), id(4), id(3))
	}
	// the prompt of message 1 has the id of one in message 3, as an earlier change left it
	for _, order := range [][]int{{5, 4, 1}, {4, 5, 1}, {1, 5, 4}, {1, 4, 5}} {
		var before, after []string
		for _, message := range order {
			was, moved := id(message), message-1
			if message == 1 {
				was, moved = id(3), 1
			}
			before = append(before, node(was, message))
			after = append(after, node(was, moved))
		}
		c := chat{metadata: registry(before...), lines: slices.Repeat([]string{`{"mes":""}`}, 6)}
		got, _, said := c.apply(t, Change{Gone: []int{2}}, nil)
		if diff := cmp.Diff(registry(after...), got.metadata); diff != "" {
			t.Errorf("%v (-want +got):\n%s", order, diff)
		}
		kept := slices.DeleteFunc(said, func(c extension.Change) bool { return !strings.Contains(c.Change, "keeps its id") })
		if len(kept) != 2 {
			t.Errorf("%v: said %v", order, said)
		}
	}
}

// Deleting in two calls is deleting in one.
func TestTwoDeletionsAreOne(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rounds := 500
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		c := world(random, 4+random.IntN(20))
		gone := some(random, len(c.lines)-1) // the last one stays: a tail has a rule of its own
		cut := 0
		if len(gone) > 0 {
			cut = random.IntN(len(gone) + 1)
		}
		first := slices.Clone(gone)
		random.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
		first, rest := first[:cut], first[cut:]
		slices.Sort(first)
		var second []int
		for _, i := range rest {
			second = append(second, (&Change{Messages: len(c.lines), Gone: first}).Map(i))
		}
		slices.Sort(second)
		once, _, _ := c.apply(t, Change{Gone: gone}, nil)
		half, _, _ := c.apply(t, Change{Gone: first}, nil)
		twice, _, _ := half.apply(t, Change{Gone: second}, nil)
		same(t, fmt.Sprintf("%v, %v then %v", gone, first, second), once, twice)
	}
}

// What comes and goes again leaves nothing behind.
func TestInsertThenDelete(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		c := world(random, 2+random.IntN(20))
		var in []Insert
		var fresh []string
		for _, at := range some(random, len(c.lines)) {
			system := random.IntN(2) == 0
			in = append(in, Insert{At: at, Visible: !system})
			fresh = append(fresh, fmt.Sprintf(`{"name":"B","is_system":%v,"mes":"new","extra":{}}`, system))
		}
		more, _, _ := c.apply(t, Change{Inserted: in}, fresh)
		var gone []int
		for i, line := range more.lines {
			if strings.Contains(line, `"mes":"new"`) {
				gone = append(gone, i)
			}
		}
		again, _, _ := more.apply(t, Change{Gone: gone}, nil)
		same(t, fmt.Sprint(in), c, again)
	}
}

// Hiding and showing again leaves nothing behind, but in timed effects: one that began or
// ended just behind a message that is hidden begins or ends where it stood, and whether it
// was before or behind it is forgotten then.
func TestHideThenShow(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		c := world(random, 2+random.IntN(20))
		var list []int
		for _, i := range some(random, len(c.lines)) {
			if strings.Contains(c.lines[i], `"is_system":false`) {
				list = append(list, i)
			}
		}
		md, err := rawjson.ParseObject([]byte(c.metadata))
		if err != nil {
			t.Fatal(err)
		}
		md.Unset("timedWorldInfo")
		c.metadata = string(md.Bytes())
		hidden, _, _ := c.apply(t, Change{Hidden: list}, nil)
		shown, _, _ := hidden.apply(t, Change{Shown: list}, nil)
		same(t, fmt.Sprint(list), c, shown)
	}
}

// A timed effect keeps the turns it has left, and begins between 0 and the number of
// visible messages.
func TestTimedEffects(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	type effect struct{ Start, End int }
	effects := func(c chat) map[string]effect {
		var md struct {
			TimedWorldInfo struct{ Sticky map[string]effect }
		}
		if err := json.Unmarshal([]byte(c.metadata), &md); err != nil {
			t.Fatal(err)
		}
		return md.TimedWorldInfo.Sticky
	}
	visible := func(c chat) int {
		n := 0
		for _, line := range c.lines {
			if strings.Contains(line, `"is_system":false`) {
				n++
			}
		}
		return n
	}
	kept := 0
	for range 1000 {
		c := world(random, 2+random.IntN(20))
		change := Change{Gone: some(random, len(c.lines))}
		after, _, _ := c.apply(t, change, nil)
		was := effects(c)
		for key, is := range effects(after) {
			kept++
			before, now := visible(c), visible(after)
			if was[key].End > before && was[key].End-before != is.End-now {
				t.Fatalf("%v: %s had %d turns left, has %d", change.Gone, key, was[key].End-before, is.End-now)
			}
			if is.Start < 0 || is.Start > now {
				t.Fatalf("%v: %s begins at %d of %d", change.Gone, key, is.Start, now)
			}
		}
	}
	if kept < 300 {
		t.Errorf("%d effects: the test does not test", kept)
	}
}

// Cutting off the end gives the state that a branch at the last message has, but for what
// section 3 of the contract excepts: the turns an effect has left, the name, work in flight.
func TestTailIsABranch(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range 400 {
		c := world(random, 3+random.IntN(20))
		at := random.IntN(len(c.lines) - 1)
		var gone []int
		for i := at + 1; i < len(c.lines); i++ {
			gone = append(gone, i)
		}
		cut, state, _ := c.apply(t, Change{Gone: gone}, nil)
		if len(state.Lines()) > 0 {
			for _, l := range state.Lines() {
				if line := []byte(c.lines[l.Index]); string(state.Line(l.Index, line)) != string(line) {
					t.Fatalf("at %d: message %d changes", at, l.Index)
				}
			}
		}
		src := source(c.lines)
		facts, err := isolate.Scan(t.Context(), src.Source, isolate.Options{At: at, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		md, err := rawjson.ParseObject([]byte(c.metadata))
		if err != nil {
			t.Fatal(err)
		}
		facts.Apply(md, "")
		branch := settled(t, string(md.Bytes()))
		if diff := cmp.Diff(branch, settled(t, cut.metadata)); diff != "" {
			t.Fatalf("at %d of %d (-branch +cut):\n%s", at, len(c.lines), diff)
		}
	}
}

// settled decodes metadata without what a tail and a branch may differ in.
func settled(t *testing.T, metadata string) map[string]any {
	t.Helper()
	var md map[string]any
	if err := json.Unmarshal([]byte(metadata), &md); err != nil {
		t.Fatal(err)
	}
	timed, _ := md["timedWorldInfo"].(map[string]any)
	sticky, _ := timed["sticky"].(map[string]any)
	for _, effect := range sticky {
		delete(effect.(map[string]any), "end")
	}
	return md
}

func TestWhatGoes(t *testing.T) {
	c := chat{metadata: `{}`, lines: []string{
		`{"mes":"a","extra":{"bookmark_link":"cp","branches":["x","y"],"memory":"m"}}`,
		`{"mes":"b","extra":{"auto_recap":{"scene_break":true}}}`,
		`{"mes":"c","extra":{"branches":["z"]}}`,
	}}
	_, state, said := c.apply(t, Change{Gone: []int{0, 1}}, nil)
	want := []Link{{0, "checkpoint", "cp"}, {0, "branch", "x"}, {0, "branch", "y"}}
	if diff := cmp.Diff(want, state.Lost()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(state.Warnings()) != 3 || len(said) != 0 {
		t.Errorf("%q, %v", state.Warnings(), said)
	}
}
