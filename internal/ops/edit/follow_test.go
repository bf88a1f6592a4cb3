package edit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension/illustrator"
	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/repair"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/choose"
)

// story writes a chat of a user folder that has state of all kinds, as sound as the
// extensions leave it, and returns its path.
func story(t *testing.T, r *rand.Rand) string {
	root := t.TempDir()
	for _, dir := range []string{"chats/Mira", "characters", "groups", "group chats", "worlds"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	n := 3 + r.IntN(18)
	visible, scene := 0, 0
	var lines, versions, nodes, roots, images, sticky []string
	for i := range n {
		hidden := r.IntN(5) == 0
		mes := fmt.Sprintf("text %d", i)
		extra := "{}"
		if r.IntN(4) == 0 {
			extra = fmt.Sprintf(`{"auto_recap_memory":{"scene_break":true,"scene_break_visible":true,"scene_recap_memory":"r","scene_recap_metadata":{"0":{"startIdx":%d,"endIdx":%d}}}}`, scene, i)
			versions = append(versions, fmt.Sprintf(`{"version":%d,"prev_scene_index":%d,"new_scene_index":%d,"content":"c","timestamp":1}`, len(versions), scene, i))
			scene = i
			hidden = false
		}
		if r.IntN(3) == 0 {
			id := illustrator.PromptID("door", i, 0)
			nodes = append(nodes, fmt.Sprintf(`%q:{"id":%q,"messageId":%d,"promptIndex":0,"text":"door","parentId":null,"childIds":[],"generatedImages":["/x%d"]}`, id, id, i, i))
			roots, images = append(roots, fmt.Sprintf("%q", id)), append(images, fmt.Sprintf(`"/x%d":%q`, i, id))
			mes += fmt.Sprintf(" <!-- auto-illustrator:promptId=%s,imageUrl=/x%d -->", id, i)
		}
		if !hidden {
			if r.IntN(4) == 0 {
				sticky = append(sticky, fmt.Sprintf(`"Book.%d":{"hash":1,"start":%d,"end":%d}`, i, visible, visible+1+r.IntN(9)))
			}
			visible++
		}
		lines = append(lines, fmt.Sprintf(`{"name":"Mira","is_user":false,"is_system":%v,"send_date":"2026-03-01T12:%02d:00.000Z","mes":%q,"extra":%s,"swipe_id":0,"swipes":[%q]}`, hidden, i, mes, extra, mes))
	}
	recap := ""
	if len(versions) > 0 {
		recap = fmt.Sprintf(`"auto_recap_running_scene_recaps":{"chat_id":"x","current_version":%d,"versions":[%s]},`, len(versions)-1, strings.Join(versions, ","))
	}
	header := fmt.Sprintf(`{"chat_metadata":{"integrity":"11111111-1111-4111-8111-111111111111","tainted":true,"lastInContextMessageId":%d,"timedWorldInfo":{"sticky":{%s}},%s`+
		`"auto_illustrator":{"promptRegistry":{"nodes":{%s},"imageToPromptId":{%s},"rootPromptIds":[%s]},"galleryWidget":{"expandedMessages":[%d]}}},"user_name":"unused","character_name":"unused"}`,
		r.IntN(n), strings.Join(sticky, ","), recap, strings.Join(nodes, ","), strings.Join(images, ","), strings.Join(roots, ","), r.IntN(n))
	path := filepath.Join(root, "chats", "Mira", "x.jsonl")
	if err := os.WriteFile(path, []byte(header+"\n"+strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// found counts the errors and warnings that a check of a chat finds.
func found(t *testing.T, path string) map[rules.ID]int {
	t.Helper()
	result, err := repair.Check(t.Context(), repair.CheckOptions{List: ops.List{Paths: []string{path}}, Now: options().Changes.Now})
	if err != nil {
		t.Fatal(err)
	}
	count := map[rules.ID]int{}
	for _, f := range result.Findings {
		if f.Severity != rules.Info {
			count[f.Rule] += f.Count()
		}
	}
	return count
}

// read returns the metadata and the lines of a chat.
func read(t *testing.T, path string) (metadata map[string]any, lines []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(data), "\n")
	return decode(t, all[0]).(map[string]any)["chat_metadata"].(map[string]any), all[1:]
}

// Whatever is deleted, added, hidden and shown: check finds nothing that it did not find
// before, and every prompt has the id that its extension would give it where it stands.
func TestCheckFindsNothingNew(t *testing.T) {
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(4, seed))
		path := story(t, r)
		before := found(t, path)
		if seed == 0 && len(before) > 0 {
			t.Fatalf("the story is not sound: %v", before)
		}
		var did []string
		for range 1 + r.IntN(4) {
			_, lines := read(t, path)
			n := len(lines)
			at := r.IntN(n)
			some := these(t, at, min(n-1, at+r.IntN(4)))
			var results []*edit.Result
			switch r.IntN(4) {
			case 0, 1:
				did = append(did, fmt.Sprintf("delete %v", some.Ranges))
				results = edit.Delete(t.Context(), edit.DeleteOptions{Options: options(path), Choice: some})
			case 2:
				did = append(did, fmt.Sprintf("add at %d", at))
				results = edit.Add(t.Context(), edit.AddOptions{Options: options(path), At: &at, Role: edit.RoleUser, Name: "User", Text: "new"})
			case 3:
				hide := r.IntN(2) == 0
				did = append(did, fmt.Sprintf("hide %v %v", hide, some.Ranges))
				results = edit.Hide(t.Context(), edit.HideOptions{Options: options(path), Choice: some, Hide: hide})
			}
			if err := results[0].Err; err != nil && !strings.Contains(err.Error(), "all messages would be deleted") {
				t.Fatal(err)
			}
		}
		for rule, n := range found(t, path) {
			if n > before[rule] {
				t.Errorf("seed %d, %v: %d of %s, before %d", seed, did, n, rule, before[rule])
			}
		}
		idsHold(t, fmt.Sprintf("seed %d, %v", seed, did), path)
	}
}

// idsHold sees to it that prompts have their ids, and the markers in the messages too.
func idsHold(t *testing.T, what, path string) {
	metadata, lines := read(t, path)
	registry := metadata["auto_illustrator"].(map[string]any)["promptRegistry"].(map[string]any)
	nodes := registry["nodes"].(map[string]any)
	for id, v := range nodes {
		node := v.(map[string]any)
		at := number(node["messageId"])
		want := illustrator.PromptID(node["text"].(string), at, number(node["promptIndex"]))
		if id != want || node["id"] != want {
			t.Errorf("%s: the prompt %s of message %d ought to be %s", what, id, at, want)
		}
		if n := strings.Count(lines[at], "promptId="+id+","); n != 2 { // in mes and in its swipe
			t.Errorf("%s: message %d has %d markers of %s", what, at, n, id)
		}
	}
	if roots := registry["rootPromptIds"].([]any); len(roots) != len(nodes) {
		t.Errorf("%s: %d roots of %d prompts", what, len(roots), len(nodes))
	}
	for url, id := range registry["imageToPromptId"].(map[string]any) {
		if nodes[id.(string)] == nil {
			t.Errorf("%s: the image %s is of no prompt", what, url)
		}
	}
}

// Messages that are edited while others go become what they become one after the other:
// what an edit made of a message is what ids and indexes are brought in step in.
func TestEditAndFollowTogether(t *testing.T) {
	const set = `{"op":"set","at":"%s","set":{"/extra/own":{"startIdx":1},"before":"%s"}}`
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(6, seed))
		path := story(t, r)
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, lines := read(t, path)
		gone := r.IntN(len(lines) - 1)
		long := strings.Repeat("x", r.IntN(2)*keptInMemory)
		edited := fmt.Sprintf(set, fmt.Sprintf("%d..", gone+1), long)
		var made [2]string
		for i, calls := range [][]string{{edited, fmt.Sprintf(`{"op":"delete","at":%d}`, gone)}, {fmt.Sprintf("{\"op\":\"delete\",\"at\":%d}\n%s", gone, edited)}} {
			if err := os.WriteFile(path, old, 0o666); err != nil {
				t.Fatal(err)
			}
			for _, call := range calls {
				list, err := edit.ReadOperations(t.Context(), "ops", []byte(call))
				if err != nil {
					t.Fatal(err)
				}
				if result := edit.Apply(t.Context(), edit.BatchOptions{Options: options(path), Operations: list})[0]; result.Err != nil {
					t.Fatal(result.Err)
				}
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			made[i] = string(data)
		}
		if diff := cmp.Diff(made[0], made[1]); diff != "" {
			t.Fatalf("seed %d, %d of %d goes (-one after the other +together):\n%.2000s", seed, gone, len(lines), diff)
		}
	}
}

// keptInMemory is more than the engine holds in memory of what edits made.
const keptInMemory = 128 << 10

// Cutting off the end is what branch --isolate makes at the last message that is kept, but
// for name, parent and slug, and for the turns that timed effects have left.
func TestTailIsAnIsolatedBranch(t *testing.T) {
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(5, seed))
		path := story(t, r)
		_, lines := read(t, path)
		at := r.IntN(len(lines) - 1)
		branch := filepath.Join(filepath.Dir(path), "branch.jsonl")
		opt := options()
		made := cut.Run(t.Context(), cut.Options{
			Kind: names.Branch, Sources: []string{path}, At: at, Name: "branch", Style: names.SillyTavern, Integrity: cut.IntegrityKeep,
			Isolate: true, Lorebook: cut.LorebookShare, Changes: opt.Changes,
		})
		if made[0].Err != nil {
			t.Fatal(made[0].Err)
		}
		ranges, err := choose.ParseRanges(fmt.Sprintf("%d..", at+1))
		if err != nil {
			t.Fatal(err)
		}
		results := edit.Delete(t.Context(), edit.DeleteOptions{Options: options(path), Choice: choose.Choice{Ranges: ranges}})
		if results[0].Err != nil {
			t.Fatal(results[0].Err)
		}
		want, wantLines := read(t, branch)
		got, gotLines := read(t, path)
		if diff := cmp.Diff(wantLines, gotLines); diff != "" {
			t.Fatalf("seed %d at %d: messages (-branch +cut):\n%s", seed, at, diff)
		}
		for _, md := range []map[string]any{want, got} {
			delete(md, "main_chat")
			if recap, ok := md["auto_recap_running_scene_recaps"].(map[string]any); ok {
				delete(recap, "chat_id")
			}
			sticky, _ := md["timedWorldInfo"].(map[string]any)["sticky"].(map[string]any)
			for _, effect := range sticky {
				delete(effect.(map[string]any), "end")
			}
		}
		if diff := cmp.Diff(text(t, want), text(t, got)); diff != "" {
			t.Fatalf("seed %d at %d of %d: metadata (-branch +cut):\n%s", seed, at, len(lines), diff)
		}
	}
}

func text(t *testing.T, v any) string {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
