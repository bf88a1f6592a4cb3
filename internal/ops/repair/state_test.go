package repair_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension/illustrator"
	"stchat/internal/folder/rules"
	"stchat/internal/ops/repair"
)

// recapped is a scene recap of Auto-Recap.
const recapped = `"extra":{"auto_recap_memory":{"scene_recap_memory":"r"}}`

// prompt is a node of Auto-Illustrator's registry as the extension writes it.
func prompt(id, text string, message int, parent string, children ...string) string {
	return fmt.Sprintf(`%q:{"id":%[1]q,"messageId":%d,"promptIndex":0,"text":%q,"parentId":%s,"childIds":[%s],"generatedImages":[]}`, id, message, text, parent, strings.Join(children, ","))
}

// door is the id of the prompt "door" in a message.
func door(message int) string { return illustrator.PromptID("door", message, 0) }

func illustrated(nodes, images, roots string) string {
	return fmt.Sprintf(`"auto_illustrator":{"promptRegistry":{"nodes":{%s},"imageToPromptId":{%s},"rootPromptIds":[%s]}}`, nodes, images, roots)
}

// marked is a message whose text has a marker of a prompt.
func marked(i int, id string) string {
	return strings.Replace(say(i, ""), `"mes":"`, `"mes":"<!-- auto-illustrator:promptId=`+id+`,imageUrl=/user/a.png -->`, 1)
}

func recaps(current string, versions ...string) string {
	return fmt.Sprintf(`"auto_recap_running_scene_recaps":{"chat_id":"A","current_version":%s,"versions":[%s]}`, current, strings.Join(versions, ","))
}

// stateCases has the cases of what extensions keep.
func stateCases() []ruleCase {
	const A = solo + "A.jsonl"
	at := func(rule string, times int) (list []string) {
		for range times {
			list = append(list, rule+" "+A+":1")
		}
		return list
	}
	one := func(md string) tree { return tree{A: chat(head(1, md), say(0, recapped), say(1, ""))} }
	version := func(n, scene int) string {
		return fmt.Sprintf(`{"version":%d,"content":"x","new_scene_index":%d}`, n, scene)
	}
	whole := prompt(door(0), "door", 0, "null", `"`+door(1)+`"`) + "," + prompt(door(1), "door", 1, `"`+door(0)+`"`)
	good := one(illustrated(whole, `"/a":"`+door(1)+`"`, `"`+door(0)+`"`))
	const theLog = solo + "A.luker-state.g__floor_log.json"
	logged := func(commits string) tree {
		return tree{A: chat(plainHeader, say(0, ""), say(1, `"swipe_id":1,"swipes":["x","line 1"]`)), theLog: `{"version":1,"commits":[` + commits + `]}`}
	}
	return []ruleCase{
		{"recap-scene", one(recaps("1", version(0, 1), version(1, 0))), at("recap-scene", 1), one(recaps("1", version(1, 0)))},
		{"recap-scene", one(recaps("1", `{"version":1,"content":"x","new_scene_index":-1}`, `{"version":2,"content":"x","new_scene_index":"0"}`, `{"version":3,"content":"x","new_scene_index":0.5}`)), at("recap-scene", 3), one(recaps("1", `{"version":1,"content":"x"}`))},
		{"recap-shape", one(`"auto_recap_running_scene_recaps":{"chat_id":"A","versions":{"0":{}}}`), at("recap-shape", 1), one(`"auto_recap_running_scene_recaps":{"chat_id":"A","versions":null}`)},
		{"recap-shape", one(recaps("1", version(1, 0), version(1, 0), `{"version":"2","content":"x"}`, `{"version":3}`, `7`) + `,"auto_lorebooks_processed_recaps":{}`), at("recap-shape", 5), one(recaps("1", version(1, 0), `{"version":2,"content":""}`) + `,"auto_lorebooks_processed_recaps":[]`)},
		{"recap-shape", one(`"auto_recap_running_scene_recaps":{"chat_id":"A","current_version":"1","versions":[]}`), at("recap-shape", 1), one(`"auto_recap_running_scene_recaps":{"chat_id":"A","current_version":1,"versions":[]}`)},
		{"beyond-end", one(recaps("1", `{"version":1,"content":"x","new_scene_index":0,"prev_scene_index":2}`)), at("beyond-end", 1), one(recaps("1", `{"version":1,"content":"x","new_scene_index":0,"prev_scene_index":1}`))},
		{"beyond-end", one(`"auto_illustrator":{"galleryWidget":{"expandedMessages":[0,2,1e99]}}`), at("beyond-end", 1), one(`"auto_illustrator":{"galleryWidget":{"expandedMessages":[0,1,"2"]}}`)},
		{"pending-old", one(`"autoLorebooks":{"pendingOps":{"a":{"stage":"x"},"b":{"timestamp":"1"},"c":1}}`), at("pending-old", 1), one(`"autoLorebooks":{"pendingOps":[{"stage":"x"}]}`)},
		{"memory-book", one(`"STMemoryBooks":{"sceneStart":0,"sceneEnd":2,"highestMemoryProcessed":1e30}`), at("memory-book", 2), one(`"STMemoryBooks":{"sceneStart":0,"sceneEnd":1,"highestMemoryProcessed":1}`)},
		{"prompt-shape", one(`"auto_illustrator":{"promptRegistry":{}}`), at("prompt-shape", 3), one(`"auto_illustrator":{"promptRegistry":null}`)},
		{"prompt-shape", one(`"auto_illustrator":[1]`), at("prompt-shape", 1), one(`"auto_illustrator":{}`)},
		{"prompt-shape", one(illustrated(`"p":{"id":"q","parentId":null,"childIds":[]},"n":null,"o":{"parentId":null}`, "", `"p","o"`)), at("prompt-shape", 3), good},
		{"prompt-dangling", one(illustrated(prompt(door(0), "door", 0, `"gone"`, `"lost"`, `5`), `"/a":"gone","/b":{}`, `"`+door(0)+`","none"`)), at("prompt-dangling", 6), good},
		{"prompt-dangling", one(illustrated(prompt(door(0), "door", 0, "null"), "", "")), at("prompt-dangling", 1), good},
		{"prompt-dangling", one(illustrated(prompt(door(0), "door", 0, `"`+door(1)+`"`)+","+prompt(door(1), "door", 1, `"`+door(0)+`"`), "", "")), at("prompt-dangling", 1), good},
		{
			"prompt-drift",
			tree{A: chat(head(1, illustrated(prompt(door(4), "door", 4, "null"), "", `"`+door(4)+`"`)), marked(0, door(4)), say(1, ""), say(2, ""), say(3, ""), say(4, ""))},
			at("prompt-drift", 1),
			tree{A: chat(head(1, illustrated(prompt(door(1), "door", 1, "null"), "", `"`+door(1)+`"`)), say(0, ""), marked(1, door(1)))},
		},
		{"prompt-drift", one(illustrated(prompt("prompt_x", "door", 0, "null"), "", `"prompt_x"`)), at("prompt-drift", 1), good},
		{"prompt-marker", tree{A: chat(head(1, ""), marked(0, "prompt_x"))}, []string{"prompt-marker " + A + ":2#0"}, tree{A: chat(head(1, illustrated(prompt(door(0), "door", 0, "null"), "", `"`+door(0)+`"`)), marked(0, door(0)), say(1, `"swipes":["<!-- auto-illustrator:promptId=x -->"],"swipe_id":0`))}},
		{ // in a swipe that is not the chosen one
			"prompt-marker",
			tree{A: chat(head(1, ""), say(0, `"swipes":["line 0","<!-- auto-illustrator:promptId=x,imageUrl=/a -->"],"swipe_id":0`))},
			[]string{"prompt-marker " + A + ":2#0"},
			tree{A: chat(head(1, ""), say(0, `"swipes":["line 0","promptId=x"],"swipe_id":0`))},
		},
		{
			"registry-index",
			tree{A: talk(head(1, `"world_info":"Sea","auto_lorebooks":{"lorebookName":"Sea","registry":{"index":{"3":{"uid":3},"4":{"id":"4"},"5":{"uid":"5"}}}}`), 1), "worlds/Sea.json": book(`"3":{"uid":3,"comment":"Sea"}`)},
			at("registry-index", 2),
			tree{A: talk(head(1, `"world_info":"Sea","auto_lorebooks":{"lorebookName":"Sea","registry":{"index":{"9":{"uid":3},"3":{"uid":3.0}}}}`), 1), "worlds/Sea.json": book(`"3":{"uid":3,"comment":"Sea"}`)},
		},
		{
			"legacy-media",
			tree{A: chat(head(1, ""), say(0, `"extra":{"file":null}`), say(1, `"extra":{"image_swipes":[]}`))},
			[]string{"legacy-media " + A + ":2#0", "legacy-media " + A + ":3#1"},
			tree{A: chat(head(1, ""), say(0, `"extra":{"files":[],"media":[],"image_swipes":"x"}`), say(1, `"extra":[{"image":"x"}]`))},
		},
		{
			"luker-replay", logged(`{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]},{"floor":1,"swipeId":1,"patches":[{"op":"test","path":"/a","value":2}]}`),
			[]string{"luker-replay " + theLog + ":0"},
			logged(`{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]},{"floor":1,"swipeId":0,"patches":[{"op":"test","path":"/a","value":2}]},{"floor":1,"swipeId":1,"patches":[]}`),
		},
		{
			"luker-state", logged(`{"floor":1,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]},{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]}`),
			[]string{"luker-state " + theLog + ":0"},
			logged(`{"floor":1,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]},{"floor":0,"swipeId":0,"patches":[]}`),
		},
		{
			"luker-state",
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.x.json": `[]`, solo + "A.luker-state.y.json": `{`, theLog: `{"commits":[]}`, solo + "A.luker-state.g.json": `{}`},
			[]string{"luker-state " + solo + "A.luker-state.g.json:0", "luker-state " + solo + "A.luker-state.x.json:0", "luker-state " + solo + "A.luker-state.y.json:0"},
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.x.json": `{}`, solo + "A.luker-state.g2.json": `{}`, theLog: `{"commits":[]}`},
		},
		{
			"luker-state",
			tree{A: talk(plainHeader, 2), "characters/Mira.png": "", "characters/Mira.state.x.json": "7", "characters/Ines.state.hp.json": "{}"},
			[]string{"luker-state characters/Ines.state.hp.json:0", "luker-state characters/Mira.state.x.json:0"},
			tree{A: talk(plainHeader, 2), "characters/Mira.png": "", "characters/Mira.state.x.json": "{}", "characters/Mira.state.json": "7", "characters/.state.x.json": "7", "characters/Ines.state.b.png": "", "characters/Ines.state.b.state.c.json": "{}"},
		},
		{"luker-floor", tree{A: talk(plainHeader, 2), theLog: ` [1]`}, []string{"luker-floor " + theLog + ":0"}, tree{A: talk(plainHeader, 2), theLog: `{}`}},
		{"luker-floor", tree{A: talk(plainHeader, 2), theLog: `{"commits":[{]}`}, []string{"luker-floor " + theLog + ":0"}, tree{A: talk(plainHeader, 2), theLog: ` {"commits":[{}]} `}},
		{
			"missing-attachment", one(illustrated(`"p":{"id":"p","parentId":null,"generatedImages":["/user/images/gone.png","data:x","https://example.org/a.png"]}`, "", `"p"`)), at("missing-attachment", 1),
			tree{A: one(illustrated(`"p":{"id":"p","parentId":null,"generatedImages":["/user/images/50%.png"]}`, "", `"p"`))[A], "user/images/50%.png": ""},
		},
	}
}

// TestRepairState repairs what extensions keep, when it is asked to.
func TestRepairState(t *testing.T) {
	const A = solo + "A.jsonl"
	md := func(s string) string { return chat(head(1, s), say(0, recapped), say(1, "")) }
	tests := []struct {
		name   string
		rules  []rules.ID
		has    string
		want   string
		lost   []string // in the .damaged file
		counts map[string]int
	}{
		{
			name: "versions", rules: []rules.ID{rules.RecapScene},
			has:  md(recaps("3", `{"version":0,"new_scene_index":0}`, `{"version":2,"new_scene_index":9}`, `{"version":3,"new_scene_index":1}`)),
			want: md(recaps("2", `{"version":0,"new_scene_index":0}`, `{"version":2,"new_scene_index":9}`)),
			lost: []string{`{"version":3,"new_scene_index":1}`}, counts: map[string]int{"recap-scene": 2},
		},
		{
			name: "versions beyond the end", rules: []rules.ID{rules.BeyondEnd},
			has:  md(recaps("2", `{"version":0,"new_scene_index":0,"prev_scene_index":7}`, `{"version":2,"new_scene_index":9}`, `{"version":1,"new_scene_index":1}`)),
			want: md(recaps("1", `{"version":0,"new_scene_index":0,"prev_scene_index":1}`, `{"version":1,"new_scene_index":1}`)),
			lost: []string{`{"version":2,"new_scene_index":9}`, "prev_scene_index\n7\n"}, counts: map[string]int{"beyond-end": 3},
		},
		{
			name: "the newest", rules: []rules.ID{rules.RecapVersion},
			has:  md(recaps(`"x"`, `{"version":-3}`, `{"version":-2.50}`)),
			want: md(recaps(`-2.50`, `{"version":-3}`, `{"version":-2.50}`)),
			lost: []string{`"x"`}, counts: map[string]int{"recap-version": 1},
		},
		{
			name: "pending", rules: []rules.ID{rules.PendingOld},
			has:  md(`"autoLorebooks":{"pendingOps":{"a":{"timestamp":0}, "b":{"timestamp":9e15},"c":{"timestamp":null}},"own":1}`),
			want: md(`"autoLorebooks":{"pendingOps":{"b":{"timestamp":9e15}},"own":1}`),
			lost: []string{`{"timestamp":0}`, `{"timestamp":null}`}, counts: map[string]int{"pending-old": 2},
		},
		{
			name: "prompts beyond the end", rules: []rules.ID{rules.BeyondEnd},
			has:  md(strings.Replace(illustrated(prompt("p", "a", 7, "null", `"q"`)+","+prompt("q", "b", 1, `"p"`), `"/a":"p","/b":"q"`, `"p"`), `"promptRegistry"`, `"galleryWidget":{"expandedMessages":[1,7]},"promptRegistry"`, 1)),
			want: md(strings.Replace(illustrated(prompt("q", "b", 1, "null"), `"/b":"q"`, `"q"`), `"promptRegistry"`, `"galleryWidget":{"expandedMessages":[1]},"promptRegistry"`, 1)),
			lost: []string{`"messageId":7`, `"p"`, "\n7\n"}, counts: map[string]int{"beyond-end": 3},
		},
		{
			name: "memory book", rules: []rules.ID{rules.MemoryBook},
			has:  md(`"STMemoryBooks":{"sceneStart":1,"sceneEnd":2,"highestMemoryProcessed":8}`),
			want: md(`"STMemoryBooks":{"sceneStart":1,"sceneEnd":1,"highestMemoryProcessed":1}`),
			lost: []string{"sceneEnd\n2\n", "highestMemoryProcessed\n8\n"}, counts: map[string]int{"memory-book": 2},
		},
		{
			name: "a registry without its parts", rules: []rules.ID{rules.PromptShape},
			has:  md(`"auto_illustrator":{"promptRegistry":{"nodes":{"p":{"id":"p","parentId":null,"generatedImages":["/a"]},"n":3,"q":{"id":["p"],"parentId":"p","childIds":["n"]}},"imageToPromptId":[7]}}`),
			want: md(`"auto_illustrator":{"promptRegistry":{"nodes":{"p":{"id":"p","parentId":null,"generatedImages":["/a"]},"q":{"id":"q","parentId":"p","childIds":[]}},"imageToPromptId":{"/a":"p"},"rootPromptIds":["p"]}}`),
			lost: []string{"[7]", "the prompt n\n3\n", `["p"]`}, counts: map[string]int{"prompt-shape": 4},
		},
		{
			name: "a text in its place", rules: []rules.ID{rules.PromptShape},
			has:  md(`"auto_illustrator":{"promptRegistry":"x","own":1}`),
			want: md(`"auto_illustrator":{"own":1}`),
			lost: []string{`"x"`}, counts: map[string]int{"prompt-shape": 1},
		},
		{
			name: "dangling", rules: []rules.ID{rules.PromptDangling},
			has:  md(illustrated(prompt("p", "a", 0, `"x"`, `"y"`)+","+prompt("q", "b", 1, "null"), `"/a":"z","/b":"q"`, `"w"`)),
			want: md(illustrated(prompt("p", "a", 0, "null")+","+prompt("q", "b", 1, "null"), `"/b":"q"`, `"p","q"`)),
			lost: []string{`"x"`, `"y"`, `"z"`, `"w"`}, counts: map[string]int{"prompt-dangling": 5},
		},
		{
			name: "a circle", rules: []rules.ID{rules.PromptDangling},
			has:  md(illustrated(prompt("p", "a", 0, `"q"`, `"q"`)+","+prompt("q", "b", 1, `"p"`, `"p"`)+","+prompt("r", "c", 1, `"r"`), "", `"q"`)),
			want: md(illustrated(prompt("p", "a", 0, `"q"`)+","+prompt("q", "b", 1, "null", `"p"`)+","+prompt("r", "c", 1, "null"), "", `"q","r"`)),
			lost: []string{`"p"`, `"q"`, `"r"`}, counts: map[string]int{"prompt-dangling": 3},
		},
		{
			name: "drift", rules: []rules.ID{rules.PromptDrift},
			has: chat(head(1, illustrated(prompt(door(9), "door", 9, "null", `"`+illustrator.PromptID("gate", 9, 0)+`"`)+","+prompt(illustrator.PromptID("gate", 9, 0), "gate", 9, `"`+door(9)+`"`), `"/a":"`+door(9)+`"`, `"`+door(9)+`"`)),
				say(0, ""), strings.Replace(marked(1, door(9)), `,"mes"`, `,"swipe_id":0,"swipes":["<!-- auto-illustrator:promptId=`+door(9)+`,imageUrl=/user/a.png -->line 1"],"mes"`, 1)),
			want: chat(head(1, illustrated(prompt(door(1), "door", 1, "null", `"`+illustrator.PromptID("gate", 1, 0)+`"`)+","+prompt(illustrator.PromptID("gate", 1, 0), "gate", 1, `"`+door(1)+`"`), `"/a":"`+door(1)+`"`, `"`+door(1)+`"`)),
				say(0, ""), strings.Replace(marked(1, door(1)), `,"mes"`, `,"swipe_id":0,"swipes":["<!-- auto-illustrator:promptId=`+door(1)+`,imageUrl=/user/a.png -->line 1"],"mes"`, 1)),
			counts: map[string]int{"prompt-drift": 3},
		},
		{
			name: "drift that no marker tells", rules: []rules.ID{rules.PromptDrift},
			has: md(illustrated(prompt("prompt_x", "door", 0, "null"), "", `"prompt_x"`)), want: md(illustrated(prompt("prompt_x", "door", 0, "null"), "", `"prompt_x"`)),
		},
		{
			name: "media", rules: []rules.ID{rules.LegacyMedia},
			has:  chat(head(1, ""), say(0, `"extra":{"a":1,"image":"/x","file":{"url":"/f"},"video":"/v","image_swipes":["/y","/x","/y",{"k":1}],"z":2}`), say(1, `"extra":{"image":"","media":"old"}`), say(2, `"extra":{"image":"/x","media":[{"type":"image","url":"/x"},{"type":"image","url":"/x","k":2}]}`)),
			want: chat(head(1, ""), say(0, `"extra":{"a":1,"z":2,"files":[{"url":"/f"}],"media":[{"type":"image","url":"/y"},{"type":"image","url":"/x"},{"type":"video","url":"/v"}],"media_display":"gallery","media_index":1}`), say(1, `"extra":{"media":[]}`), say(2, `"extra":{"media":[{"type":"image","url":"/x"}]}`)),
			lost: []string{`{"k":1}`, `"old"`, `"k":2}`}, counts: map[string]int{"legacy-media": 6},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := plant(t, tree{A: tt.has})
			if rep := runRepair(t, true, repair.Options{}, root); actions(rep) > 0 {
				t.Errorf("mended without being asked: %+v", rep.Results[0].Doc.Actions)
			}
			rep := runRepair(t, true, repair.Options{Rules: tt.rules}, root)
			after := files(t, root)
			if diff := cmp.Diff(tt.want, after[A]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			counts := map[string]int{}
			for _, r := range rep.Results {
				for _, c := range r.Doc.Counts {
					counts[c.Rule] += c.Count
				}
			}
			if tt.counts == nil {
				tt.counts = map[string]int{}
			}
			if diff := cmp.Diff(tt.counts, counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			quarantined := after[solo+"A.damaged"]
			for _, lost := range tt.lost {
				if !strings.Contains(quarantined, lost) {
					t.Errorf("%s is not in the .damaged file:\n%s", lost, quarantined)
				}
			}
			if again := runRepair(t, true, repair.Options{Rules: tt.rules}, root); actions(again) > 0 {
				t.Errorf("a second run: %+v", again.Results[0].Doc.Actions)
			}
		})
	}
}
