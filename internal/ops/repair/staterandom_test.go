package repair_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/illustrator"
	"stchat/internal/folder/rules"
	"stchat/internal/ops/past"
	"stchat/internal/ops/repair"
)

// broken makes chats whose extensions' state is half broken: references to what is not
// there, wrong types, circles, huge numbers, repeated keys.
type broken struct{ *rand.Rand }

func (r broken) pick(values ...string) string { return values[r.IntN(len(values))] }

func (r broken) junk() string {
	return r.pick("null", "true", "-0", "1e400", "-7", "1.5", `"\ud800"`, `""`, `"x"`, "[]", "[1,[2]]", "{}", `{"a":1,"a":2}`)
}

// or is the value, or now and then junk in its place.
func (r broken) or(value string) string {
	if r.IntN(15) == 0 {
		return r.junk()
	}
	return value
}

func (r broken) list(most int, element func() string) string {
	list := make([]string, r.IntN(most+1))
	for i := range list {
		list[i] = element()
	}
	return "[" + strings.Join(list, r.pick(",", " , ")) + "]"
}

func (r broken) object(most int, member func() string) string {
	list := r.list(most, member)
	return "{" + list[1:len(list)-1] + "}"
}

func (r broken) index() string {
	return r.pick("0", "1", "2", "3", "4", "6", "9", "2.0", "1e1", "123456789012345678901234567890")
}

// id is that of a prompt, most often one that there may be.
func (r broken) id() string {
	if r.IntN(6) == 0 {
		return r.pick(`"prompt_none"`, `"p"`, `"a,b"`, `"é\""`)
	}
	return fmt.Sprintf("%q", illustrator.PromptID(r.pick("door", "gate"), r.IntN(5), 0))
}

func (r broken) node() string {
	text, at := r.pick("door", "gate"), r.IntN(5)
	id := fmt.Sprintf("%q", illustrator.PromptID(text, at, 0))
	says := fmt.Sprint(at)
	if r.IntN(4) == 0 {
		says = r.index()
	}
	return fmt.Sprintf(`%s:%s`, id, r.or(fmt.Sprintf(`{"id":%s,"messageId":%s,"promptIndex":%s,"text":%s,"parentId":%s,"childIds":%s,"generatedImages":%s,"own":%s}`,
		r.or(id), r.or(says), r.or("0"), r.or(fmt.Sprintf("%q", text)), r.or(r.pick("null", "null", r.id())), r.or(r.list(2, r.id)), r.or(r.list(2, func() string { return `"/a"` })), r.junk())))
}

func (r broken) metadata() string {
	version := func() string {
		return r.or(fmt.Sprintf(`{"version":%s,"content":%s,"prev_scene_index":%s,"new_scene_index":%s}`, r.or(r.index()), r.or(`"c"`), r.or(r.index()), r.or(r.index())))
	}
	members := []string{
		`"auto_recap_running_scene_recaps":` + r.or(fmt.Sprintf(`{"chat_id":"A","current_version":%s,"versions":%s}`, r.or(r.index()), r.or(r.list(6, version)))),
		`"auto_lorebooks_processed_recaps":` + r.junk(),
		`"autoLorebooks":` + r.or(`{"pendingOps":`+r.or(r.object(4, func() string {
			return fmt.Sprintf(`"op%d":%s`, r.IntN(3), r.or(fmt.Sprintf(`{"timestamp":%s}`, r.or(r.pick("1", "9e15", "null")))))
		}))+`}`),
		`"STMemoryBooks":` + r.or(fmt.Sprintf(`{"sceneStart":%s,"sceneEnd":%s,"highestMemoryProcessed":%s}`, r.or(r.index()), r.or(r.index()), r.or(r.index()))),
		`"auto_illustrator":` + r.or(fmt.Sprintf(`{"promptRegistry":%s,"galleryWidget":%s}`,
			r.or(r.pick("", `{"nodes":{},"rootPromptIds":[],"imageToPromptId":{}}`, "", "", "")+fmt.Sprintf(`{"nodes":%s,"imageToPromptId":%s,"rootPromptIds":%s}`,
				r.or(r.object(8, r.node)), r.or(r.object(3, func() string { return fmt.Sprintf(`"/%d":%s`, r.IntN(9), r.or(r.id())) })), r.or(r.list(4, func() string { return r.or(r.id()) })))),
			r.or(`{"expandedMessages":`+r.or(r.list(4, func() string { return r.or(r.index()) }))+`}`))),
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return strings.Join(members[r.IntN(3):], ",")
}

func (r broken) message(i int) string {
	text := fmt.Sprintf("line %d", i)
	for range r.IntN(3) {
		id, _ := strings.CutPrefix(strings.Trim(r.id(), `"`), "")
		text += "<!-- auto-illustrator:promptId=" + id + `,imageUrl=/a -->`
	}
	var extra []string
	if r.IntN(2) == 0 {
		extra = append(extra, fmt.Sprintf(`%q:{"scene_recap_memory":%s}`, r.pick("auto_recap_memory", "auto_recap"), r.or(`"r"`)))
	}
	for _, key := range []string{"image", "file", "video", "image_swipes", "media", "files", "media_display"} {
		if r.IntN(8) == 0 {
			extra = append(extra, fmt.Sprintf(`%q:%s`, key, r.pick(`"/x"`, `["/x","/y","/x",3]`, `[{"url":"/x","type":"image"}]`, `"gallery"`, r.junk())))
		}
	}
	return say(i, `"swipe_id":0,"swipes":[`+"\x00"+`],"extra":{`+strings.Join(extra, ",")+`}`+"\x01"+text)
}

// chat makes a chat of n messages.
func (r broken) chat(n int) string {
	lines := []string{head(1, r.metadata())}
	for i := range n {
		line, text, _ := strings.Cut(strings.TrimSuffix(r.message(i), "}"), "\x01")
		raw, _ := json.Marshal(text)
		raw = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(raw)))
		line = strings.Replace(line, fmt.Sprintf(`"mes":"line %d"`, i), `"mes":`+string(raw), 1)
		lines = append(lines, strings.Replace(line, "\x00", string(raw), 1)+"}")
	}
	return chat(lines...)
}

// onState are the rules of what extensions keep that repair repairs when it is asked to.
func onState() []rules.ID {
	return []rules.ID{
		rules.RecapScene, rules.RecapVersion, rules.BeyondEnd, rules.PendingOld, rules.PromptShape,
		rules.PromptDangling, rules.PromptDrift, rules.MemoryBook, rules.LegacyMedia,
	}
}

// TestRandomState repairs chats that nobody wrote: what repair says it repairs is found no
// more, a second run finds nothing to do, and undo gives the files back.
func TestRandomState(t *testing.T) {
	const A = solo + "A.jsonl"
	r := broken{rand.New(rand.NewPCG(21, 22))}
	repaired := map[string]int{}
	rounds := 250
	if testing.Short() {
		rounds = 50
	}
	for round := range rounds {
		data := r.chat(1 + r.IntN(6))
		for line := range strings.SplitSeq(data, "\n") {
			if !json.Valid([]byte(line)) && !strings.Contains(line, "promptRegistry\":{\"nodes\":{},\"rootPromptIds\":[],\"imageToPromptId\":{}}{") {
				t.Fatalf("the test makes bad JSON: %s", line)
			}
		}
		wanted := onState()
		if round%3 == 0 {
			wanted = wanted[round/3%len(wanted):][:1]
		}
		root := plant(t, tree{A: data})
		before := files(t, root)
		findings := check(t, root).Findings
		rep := runRepair(t, true, repair.Options{Rules: wanted}, root)
		after := files(t, root)
		left := map[rules.ID]bool{}
		for _, f := range check(t, root).Findings {
			if !f.ByHand() {
				left[f.Rule] = true
			}
		}
		for _, id := range wanted {
			if left[id] {
				t.Fatalf("%s is still there:\n%s\n%s\nquarantine: %s", id, data, after[A], after[solo+"A.damaged"])
			}
		}
		if again := runRepair(t, true, repair.Options{Rules: wanted}, root); actions(again) > 0 {
			t.Fatalf("a second run: %+v\n%s\n%s", again.Results[0].Doc.Actions, data, after[A])
		}
		counts := map[string]bool{}
		for _, res := range rep.Results {
			for _, c := range res.Doc.Counts {
				counts[c.Rule] = true
				repaired[c.Rule]++
			}
		}
		for _, f := range findings {
			if f.ByHand() || counts[f.Rule.String()] {
				continue
			}
			for _, id := range wanted {
				if f.Rule == id && len(wanted) == 1 {
					t.Fatalf("%s is found and not mended: %s\n%s", id, f.Message, data)
				}
			}
		}
		if len(rep.Results) == 0 || rep.Results[0].Doc.Total == 0 {
			if diff := cmp.Diff(before, after); diff != "" {
				t.Fatalf("changed without an action:\n%s", diff)
			}
			continue
		}
		if _, err := past.Undo(t.Context(), past.Options{Root: root, Changes: changeset.Options{NoSync: true, Now: now}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, files(t, root)); diff != "" {
			t.Fatalf("undo (-before +after):\n%s", diff)
		}
	}
	for _, id := range onState() {
		if repaired[id.String()] < rounds/50 {
			t.Errorf("%s was mended %d times: the test tests too little", id, repaired[id.String()])
		}
	}
}
