package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// described is one row of docs/json.md.
type described struct {
	types  []string // alternatives
	filled bool     // some document had more than null or an empty list there
}

// readJSONPage returns the tables of docs/json.md: the keys by section.
func readJSONPage(t *testing.T) map[string]map[string]*described {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\|")
	sections := map[string]map[string]*described{}
	section := ""
	for line := range strings.Lines(string(data)) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "##") {
			section = strings.TrimSpace(title)
			sections[section] = map[string]*described{}
			if strings.HasPrefix(line, "## ") { // others are parts of documents
				sections[section]["schema"] = &described{types: []string{"integer"}}
			}
			continue
		}
		if other := regexp.MustCompile(`^And \[([^]]+)\]`).FindStringSubmatch(line); other != nil {
			maps.Copy(sections[section], sections[other[1]])
		}
		if m := row.FindStringSubmatch(line); m != nil {
			if sections[section][m[1]] != nil {
				t.Errorf("%s: %s is described twice", section, m[1])
			}
			sections[section][m[1]] = &described{types: strings.Split(strings.TrimSpace(m[2]), " or ")}
		}
	}
	return sections
}

// is reports whether a value has a type of the page.
func is(v any, kind string) bool {
	if literal, ok := strings.CutPrefix(kind, "`"); ok {
		return v == strings.TrimSuffix(literal, "`")
	}
	switch kind {
	case "null":
		return v == nil
	case "any":
		return true
	case "string":
		_, ok := v.(string)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "integer":
		n, ok := v.(json.Number)
		return ok && !strings.ContainsAny(n.String(), ".eE")
	case "object":
		_, ok := v.(map[string]any)
		return ok
	}
	of, ok := strings.CutPrefix(kind, "list of ")
	list, isList := v.([]any)
	if !ok || !isList {
		return false
	}
	for _, e := range list {
		if !is(e, of) {
			return false
		}
	}
	return true
}

// jsonPage holds documents against the page.
type jsonPage struct {
	t        *testing.T
	sections map[string]map[string]*described
}

// check holds one object against a section; prefix is where it stands.
func (p *jsonPage) check(section, prefix string, doc map[string]any) {
	p.t.Helper()
	rows := p.sections[section]
	if rows == nil {
		p.t.Fatalf("docs/json.md has no section %q", section)
	}
	for key := range rows {
		if rest, ok := strings.CutPrefix(key, prefix); ok && !strings.ContainsAny(rest, ".[") {
			if _, ok := doc[rest]; !ok {
				p.t.Errorf("%s: no key %s in %v", section, key, doc)
			}
		}
	}
	for key, v := range doc {
		row := rows[prefix+key]
		if row == nil {
			p.t.Errorf("%s: the key %s is not described", section, prefix+key)
			continue
		}
		fits := false
		for _, kind := range row.types {
			fits = fits || is(v, kind)
		}
		if !fits {
			p.t.Errorf("%s: %s is %v, not %s", section, prefix+key, v, strings.Join(row.types, " or "))
		}
		list, isList := v.([]any)
		row.filled = row.filled || v != nil && (!isList || len(list) != 0)
		if isAny := len(row.types) == 1 && row.types[0] == "any"; isAny {
			continue
		}
		if inner, ok := v.(map[string]any); ok {
			p.check(section, prefix+key+".", inner)
		}
		for _, e := range list {
			inner, ok := e.(map[string]any)
			switch {
			case !ok:
			case (section == "inspect" || section == "list") && key == "extensions":
				p.check(extensionSection(inner), "", inner)
			default:
				p.check(section, prefix+key+"[].", inner)
			}
		}
	}
}

func extensionSection(doc map[string]any) string {
	if doc["known"] != true {
		return "extensions: unknown"
	}
	switch doc["name"] {
	case "auto-recap", "auto-illustrator", "memory-books", "luker":
		return fmt.Sprint("extensions: ", doc["name"])
	}
	return "extensions: another"
}

// TestJSONDocumentsAreDescribed runs every command that prints JSON, holds
// what it prints against docs/json.md, and sees to it that everything that is
// described there has been printed.
func TestJSONDocumentsAreDescribed(t *testing.T) {
	p := &jsonPage{t, readJSONPage(t)}
	valid := schemas(t)
	user := t.TempDir()
	for path, text := range jsonWorld {
		path = filepath.Join(user, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := t.TempDir() // a copy that was continued
	copied := filepath.Join(elsewhere, "chats", "Mira", "media.jsonl")
	if err := os.MkdirAll(filepath.Dir(copied), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, []byte(strings.Replace(jsonWorld["chats/Mira/media.jsonl"], "only here", "only there", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(user, filepath.FromSlash(path)) }
	demo := func(time string) string {
		return filepath.Join("..", "..", "testdata", "demo", "chats", "Maren Holm", "Maren Holm - "+time+".jsonl")
	}
	story := at("chats/Mira/story.jsonl")
	printed := map[string]bool{} // the commands that were run
	for _, c := range []struct {
		section, last string // of the documents, and of the last one where it is another
		codes         string
		args          []string
	}{
		{"snapshot", "snapshot: the last document", "0", []string{"snapshot", "--json", user}},
		{"what failed", "checkpoint, branch: the last document", "2", []string{"checkpoint", "--json", story, story}},
		{"inspect", "inspect: the last document", "0", []string{"inspect", "--json", user}},
		{"inspect", "inspect: the last document", "0", []string{"inspect", "--json", at("chats/Mira"), at("loose.jsonl")}},
		{"list", "", "0", []string{"list", "--json", user}},
		{"inspect: a lorebook", "", "0", []string{"inspect", "--json", at("worlds/Sea.json"), at("worlds/Bad.json")}},
		{"inspect --messages", "", "0", []string{"inspect", "--messages", "--json", user}},
		{"lost", "lost: the last document", "1", []string{"lost", "--json", user}},
		{"lost", "lost: the last document", "1", []string{"lost", "--json", "--from", filepath.Join(elsewhere, "chats"), user}},
		{"search", "", "0", []string{"search", "-C", "1", "ahoy", "OR", "b", "--json", "--", user}},
		{"show", "", "0", []string{"show", "--json", "--swipes", at("chats/Mira/media.jsonl")}},
		{"show", "", "0", []string{"show", "--json", "--last", "1", at("chats/Mira/media.jsonl")}},
		{"show --count", "", "0", []string{"show", "--count", "--json", at("chats/Mira/media.jsonl")}},
		{"add, delete, edit, hide, swipe, unhide; meta set", "", "0", []string{"delete", "--json", "--force", "-a", "0", at("chats/Mira/edited.jsonl")}},
		{"add, delete, edit, hide, swipe, unhide; meta set", "", "0", []string{"edit", "--json", "-a", "0", "--set", "mes=y", at("chats/Mira/edited.jsonl")}},
		{"add, delete, edit, hide, swipe, unhide; meta set", "delete, edit, hide, unhide; meta set: the last document", "0", []string{"hide", "--json", "-a", "0", "--dry-run", at("chats/Mira/edited.jsonl"), at("chats/Mira/child.jsonl")}},
		{"add, delete, edit, hide, swipe, unhide; meta set", "", "0", []string{"unhide", "--json", "-a", "0", "--dry-run", at("chats/Mira/edited.jsonl")}},
		{"add, delete, edit, hide, swipe, unhide; meta set", "", "0", []string{"replace", "--json", "--dry-run", "y", "z", at("chats/Mira/edited.jsonl")}},
		{"add, delete, edit, hide, swipe, unhide; meta set", "", "0", []string{"swipe", "--json", "--dry-run", "--force", "--add", "another", at("chats/Mira/edited.jsonl"), "0"}},
		{"snapshot", "snapshot: the last document", "0", []string{"snapshot", "--json", user}},
		{"add, delete, edit, hide, swipe, unhide; meta set", "", "0", []string{"add", "--json", "--role", "user", "--text", "x", at("chats/Mira/edited.jsonl")}},
		{"meta get", "", "0", []string{"meta", "get", "--json", story}},
		{"meta get", "", "0", []string{"meta", "get", "--json", story, "main_chat"}},
		{"state get PATH", "", "0", []string{"state", "get", "--json", at("chats/Mira/kept.jsonl")}},
		{"state get PATH NS", "", "0", []string{"state", "get", "--json", at("chats/Mira/kept.jsonl"), "hp"}},
		{"state get --log", "", "0", []string{"state", "get", "--log", "--json", at("chats/Mira/kept.jsonl"), "hp"}},
		{"state get --log", "", "0", []string{"state", "get", "--log", "--json", at("chats/Mira/kept.jsonl"), "recap:"}},
		{"state set", "", "0", []string{"state", "set", "--json", at("chats/Mira/kept.jsonl"), "hp", "--set", "a=2"}},
		{"state set", "", "0", []string{"state", "set", "--delete", "--json", at("chats/Mira/kept.jsonl"), "hp"}},
		{"diff-meta", "", "1", []string{"diff-meta", "--format", "json", story, at("loose.jsonl")}},
		{"diff-meta", "", "1", []string{"diff-meta", "--format", "json", at("bare.jsonl"), story}},
		{"check", "check: the last document", "1", []string{"check", "--format", "json", user}},
		{"check --list-rules", "", "0", []string{"check", "--list-rules", "--format", "json"}},
		{"checkpoint, branch", "", "0", []string{"checkpoint", "--json", "--isolate", "--link", "--skip-damaged", "--at", "1", "-n", "point", story}},
		{"checkpoint, branch", "", "0", []string{"branch", "--json", "--link", "--at", "0", at("group chats/g.jsonl")}},
		{"checkpoint, branch", "", "0", []string{"checkpoint", "--json", "--skip-damaged", "--dry-run", "--unset", "main_chat", "--unset", "integrity", story}},
		{"copy", "", "0", []string{"copy", "--json", "--dry-run", at("chats/Mira/media.jsonl"), at("groups/7.json")}},
		{"join", "", "0", []string{"join", "--json", "--dry-run", at("chats/Mira/media.jsonl"), at("chats/Mira/child.jsonl")}},
		{"clone-lorebook", "", "0", []string{"clone-lorebook", "--json", "--rebind", at("chats/Mira/child.jsonl")}},
		{"clone-lorebook", "", "0", []string{"clone-lorebook", "--json", at("worlds/Sea.json"), "--name", "Land"}},
		{"repair", "", "1", []string{"repair", "--json", "--dry-run", user}},
		{"repair", "", "0", []string{"repair", "--json", "-y", story}},
		{"tree", "tree: the last document", "0", []string{"tree", "--json", "--all", at("chats")}},
		{"log --commands; undo --prune, --keep", "", "0", []string{"log", "--commands", "--json", "--data", user}},
		{"undo", "", "0", []string{"undo", "--json", "--data", user}},
		{"redo", "", "0", []string{"redo", "--json", "--data", user}},
		{"undo", "", "0", []string{"undo", "--json", "--data", user}},
		{"export", "export: the summary", "0", []string{"export", "--json", "--skip-damaged", at("chats/Mira"), "-o", t.TempDir()}},
		{"stats", "stats: the summary", "0", []string{"stats", "--json", at("chats/Mira")}},
		{"stats", "stats: the summary", "0", []string{"stats", "--json", "--copies", filepath.Join("..", "..", "testdata", "demo")}},
		{"diff", "diff: the summary", "1", []string{"diff", "--json", demo("2026-03-01@18h42m07s311ms"), demo("2026-03-01@18h42m07s311ms - Branch #1")}},
		{"diff", "diff: the summary", "1", []string{"diff", "--json", "--all", "--rev", "-2..-1", at("chats/Mira/edited.jsonl")}},
		{"log", "", "0", []string{"log", "--json", at("chats/Mira/story.jsonl")}},
		{"log --rev, --as-of", "", "0", []string{"log", "--json", "--rev", "-1", at("chats/Mira/media.jsonl")}},
		{"log --rev, --as-of", "", "0", []string{"log", "--json", "--rev", "-1", at("chats/Mira/edited.jsonl")}},
		{"restore", "", "0", []string{"restore", "--json", "--rev", "-1", "-n", "again", at("chats/Mira/edited.jsonl")}},
		{"restore", "", "0", []string{"restore", "--json", "--rev", "-1", "--in-place", at("chats/Mira/edited.jsonl")}},
		{"lost: of a chat that is named", "lost: the last document", "1", []string{"lost", "--json", at("chats/Mira/edited.jsonl")}},
		{"store", "", "0", []string{"store", "-y", "--json", "--prune", "--keep-last", "1", "--data", user}},
		{"store", "", "1", []string{"store", "--json", "--verify", "--data", "damaged"}},
		{"store", "", "1", []string{"store", "--json", "--verify", "--mend", "--data", "damaged"}},
		{"merge", "merge, the summary", "2", []string{"merge", "-y", "--json", at("merged/into"), at("merged/phone")}},
		{"split", "", "0", []string{"split", "--json", "--at", "1", at("chats/Mira/media.jsonl")}},
		{"slim", "", "0", []string{"slim", "--json", "--keep-last", "0", "--drop", "images,swipes", at("chats/Fat/fat.jsonl")}},
		{"lost: of a chat that is named", "lost: the last document", "1", []string{"lost", "--json", at("chats/Fat/fat.jsonl")}},
		{"open", "", "0", []string{"open", "--json", at("chats/Mira/child.jsonl")}},
		{"undo", "", "0", []string{"undo", "--json", "--data", user}},
		{"open", "", "0", []string{"open", "--json", at("chats/Mira/child.jsonl")}},
		{"new", "", "0", []string{"new", "--json", at("chats/Mira")}},
		{"new", "", "0", []string{"new", "--json", "-n", "fresh", at("groups/7.json")}},
		{"rename, move, rm", "", "0", []string{"rename", "--json", at("chats/Mira/child.jsonl"), "kid"}},
		{"rename, move, rm", "", "0", []string{"rename", "--json", story, "tale"}},
		{"snapshot", "snapshot: the last document", "0", []string{"snapshot", "--json", user}},
		{"log FOLDER", "", "0", []string{"log", "--snapshots", "--json", user}},
		{"log FOLDER --as-of", "", "0", []string{"log", "--json", "--as-of", "0m", user}},
		{"rename, move, rm", "rm --older-than, --checkpoints: the last document", "0", []string{"rm", "--json", "--checkpoints", "--keep", "5", at("chats/Mira")}},
		{"rename, move, rm", "", "0", []string{"rm", "--json", at("chats/Mira/old point.jsonl")}},
		{"rename, move, rm", "", "0", []string{"move", "--json", "--cut", at("chats/Mira/kid.jsonl"), at("chats/Fat")}},
		{"rename, move, rm", "", "0", []string{"rm", "--json", at("chats/Fat/kid.jsonl")}},
		{"import", "", "0", []string{"import", "--json", "--branches", at("gpt.json"), at("chats/Mira")}},
		{"import", "", "0", []string{"import", "--json", at("gpt.json"), at("groups/7.json")}},
		{"export, openai, sharegpt, rows", "", "0", []string{"export", "--json", "--skip-damaged", "--format", "rows", "--leaves", at("chats/Mira"), "-o", t.TempDir()}},
		{"export, openai, sharegpt, rows", "", "0", []string{"export", "--json", "--skip-damaged", "--format", "openai", at("chats/Mira"), "-o", t.TempDir()}},
		{"version", "", "0", []string{"version", "--json"}},
	} {
		printed[c.args[0]] = true
		if last := len(c.args) - 1; c.args[last] == "damaged" {
			c.args[last] = damagedHistory(t, user)
		}
		out, errs, code := terminal(t, 0, c.args...)
		if fmt.Sprint(code) != c.codes {
			t.Fatalf("%q: exit %d\n%s%s", c.args, code, out, errs)
		}
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		for i, line := range lines {
			dec := json.NewDecoder(strings.NewReader(line))
			dec.UseNumber()
			var doc map[string]any
			if err := dec.Decode(&doc); err != nil {
				t.Fatalf("%q: %s: %v", c.args, line, err)
			}
			if doc["schema"] != json.Number("1") {
				t.Errorf("%q: schema is %v", c.args, doc["schema"])
			}
			section := c.section
			if c.last != "" && i == len(lines)-1 {
				section = c.last
			}
			p.check(section, "", doc)
			if err := fitsSchema(valid[section], doc); err != nil {
				t.Errorf("%q: %s: %v", c.args, line, err)
			}
		}
	}
	for _, v := range verbs() {
		made := v.make()
		printsJSON := !made.plain && made.below == nil
		if printsJSON && !printed[v.name] {
			t.Errorf("%s takes --json, and no call here prints its document: add one, its section in docs/json.md, and its struct in documents (schemas.go)", v.name)
		}
	}
	for section, rows := range p.sections {
		if section == "operation and steps" {
			continue // seen in others
		}
		for key, row := range rows {
			// what the build or the disk decides, and what only moves and --force have
			if slices.Contains([]string{"copy", "join", "restore", "split"}, section) && p.sections["checkpoint, branch"][key] != nil ||
				section == "redo" && p.sections["undo"][key] != nil ||
				section == "slim" && p.sections["add, delete, edit, hide, swipe, unhide; meta set"][key] != nil {
				continue // of a document that has been seen full
			}
			onlyStored := key == "rev" && slices.Contains([]string{"search", "lost: of a chat that is named"}, section)
			if !row.filled && key != "steps[].to" && key != "left" && key != "best.rev" && !onlyStored && (section != "version" || key != "commit") {
				t.Errorf("docs/json.md, %s: %s is described, but no document of this test has it", section, key)
			}
		}
	}
}

// schemas reads docs/schema, by the section of docs/json.md that each document has, and holds it against what schemas writes: with -update it writes them.
func schemas(t *testing.T) map[string]map[string]any {
	t.Helper()
	dir, there := t.TempDir(), filepath.Join("..", "..", "docs", "schema")
	if *update {
		dir = there
	}
	if out, errs, code := terminal(t, 0, "schemas", dir); code != 0 {
		t.Fatalf("%s%s", out, errs)
	}
	valid := map[string]map[string]any{}
	for _, d := range documents() {
		name := d.name + ".json"
		if diff := cmp.Diff(string(read(t, filepath.Join(dir, name))), string(read(t, filepath.Join(there, name)))); diff != "" {
			t.Errorf("docs/schema/%s is not what 'stchat schemas' writes (-want +got), see -update:\n%s", name, diff)
		}
		var schema map[string]any
		if err := json.Unmarshal(read(t, filepath.Join(dir, name)), &schema); err != nil {
			t.Fatal(err)
		}
		valid[d.section] = schema
	}
	described := readJSONPage(t)
	for section := range described {
		if valid[section] == nil && section != "operation and steps" && !strings.HasPrefix(section, "extensions: ") {
			t.Errorf("docs/json.md, %s: there is no schema", section)
		}
	}
	for section := range valid {
		if described[section] == nil && section != "export --format rows: a line" { // docs/export.md has it
			t.Errorf("docs/json.md has no section %q", section)
		}
	}
	return valid
}

// fitsSchema validates by the few keywords that [jsondoc.Schema] uses; its own test does by a
// whole validator, whose memory this package's tests of memory would measure.
func fitsSchema(schema map[string]any, v any) error {
	kinds, _ := schema["type"].([]any)
	if kind, ok := schema["type"].(string); ok {
		kinds = []any{kind}
	}
	fits := len(kinds) == 0
	for _, kind := range kinds {
		fits = fits || is(v, kind.(string)) || kind == "number" && reflect.TypeOf(v) == reflect.TypeFor[json.Number]()
		_, list := v.([]any)
		fits = fits || kind == "array" && list
	}
	if !fits {
		return fmt.Errorf("%v is not %v", v, schema["type"])
	}
	if items, ok := schema["items"].(map[string]any); ok {
		for _, e := range v.([]any) {
			if err := fitsSchema(items, e); err != nil {
				return err
			}
		}
	}
	doc, _ := v.(map[string]any)
	if required, ok := schema["required"].([]any); ok && doc != nil {
		for _, key := range required {
			if _, ok := doc[key.(string)]; !ok {
				return fmt.Errorf("there is no %s", key)
			}
		}
	}
	below, _ := schema["properties"].(map[string]any)
	for key, e := range doc {
		inner, ok := below[key].(map[string]any)
		if !ok {
			inner, ok = schema["additionalProperties"].(map[string]any)
		}
		if !ok {
			continue
		}
		if err := fitsSchema(inner, e); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// damagedHistory copies a user folder, with a history in which the data of each pack are
// damaged.
func damagedHistory(t *testing.T, user string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(user)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, ".stchat", "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE pack SET data = x'00'; UPDATE meta SET v = '' WHERE k = 'root'"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// jsonWorld is a user folder in which there is something of everything.
var jsonWorld = map[string]string{
	"loose.jsonl": `{"chat_metadata":{"world_info":"Sea","integrity":"1"}}` + "\n" + `{"name":"A","mes":"x","send_date":"some day"}`,
	"bare.jsonl":  `{"mes":"no header"}`,
	"gpt.json": `{"current_node":"b","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"parts":["x"]}}},"b":{"parent":"a","message":{"author":{"role":"assistant"},"content":{"parts":["y"]}}},` +
		`"c":{"parent":"a","message":{"author":{"role":"user"},"content":{"parts":["z"]}}},"d":{"message":{"author":{"role":"tool"}}}}}`,
	"chats/Mira/story.jsonl": `{"chat_metadata":{"integrity":"1","world_info":"Sea","main_chat":"gone","own key":{"x":1},"lastInContextMessageId":9,` +
		`"auto_recap_running_scene_recaps":{"chat_id":"story","current_version":1,"versions":[{"version":0,"new_scene_index":0,"content":"a"},{"version":1,"new_scene_index":2,"content":"b"}]},` +
		`"autoLorebooks":{"pendingOps":{"entry_1":{"timestamp":1}}},"auto_illustrator":{"promptRegistry":{"nodes":{"p":{"messageId":2}},"imageToPromptId":{"u":"p"},"rootPromptIds":["p"]}},"STMemoryBooks":{"sceneStart":0,"sceneEnd":1,"highestMemoryProcessed":0},"charMemory":{"lastExtractedIndex":1}},"user_name":"unused","character_name":"unused"}` + "\n" +
		`{"name":"Mira","is_user":false,"send_date":"2026-01-02T03:04:05.000Z","mes":"Hello","swipe_id":0,"swipes":["Hello","Hi"],"swipe_info":[{},{}],"extra":{"auto_recap_memory":{"scene_break":true,"scene_recap_memory":"They met."}}}` + "\n" +
		"{\"torn\n" +
		`{"name":"User","is_user":true,"mes":"Ahoy","extra":{"bookmark_link":"old point","branches":["child"],"auto_recap_memory":{"scene_break":true,"scene_break_visible":false}}}` + "\n" +
		"{\"name\":\"Mira\",\"mes\":\"\xff\",\"is_system\":true}\n" +
		`{"name":"Mira","mes":"second","swipe_id":7,"swipes":["second"],"extra":{"type":"comment"}}`,
	"chats/Mira/edited.jsonl":                      `{"chat_metadata":{"integrity":"e","lastInContextMessageId":1}}` + "\n" + `{"name":"A","is_user":true,"mes":"x","extra":{"bookmark_link":"old point"}}` + "\n" + `{"name":"A","is_user":true,"mes":"x"}`,
	"chats/Mira/edited.luker-state.chat_sync.json": `{"integrity":"e"}`,
	"chats/Mira/media.jsonl": `{"chat_metadata":{}}` + "\n" + `{"name":"A","is_user":true,"mes":"b","send_date":"2026-01-02T03:04:05.000Z","swipe_id":1,"swipes":["a","b"],"extra":{"reasoning":"r",` +
		`"media":[{"url":"user/images/1.png","type":"image"}],"files":[{"url":"user/files/1.txt","type":"text"}],"bookmark_link":"old point","branches":["child"]}}` + "\n" + `{"name":"A","is_user":true,"mes":"only here","send_date":"2026-01-02T03:05:05.000Z"}`,
	"chats/Mira/child.jsonl":                          `{"chat_metadata":{"main_chat":"story","world_info":"Sea","timedWorldInfo":{"sticky":{"Sea.0":{"hash":1,"start":0,"end":1}}}}}` + "\n" + `{"name":"Mira","mes":"Hello"}`,
	"chats/Mira/branched.jsonl":                       `{"chat_metadata":{"uuid":"u2","parent_uuid":"u1"}}` + "\n" + `{"name":"Mira","mes":"Hello"}`,
	"chats/Mira/old point.jsonl":                      `{"chat_metadata":{"main_chat":"story","world_info":"Bad"},"create_date":"2024-1-5@3h04m05s"}`,
	"chats/Mira/story.luker-state.hp__floor_log.json": `{"version":1,"commits":[{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]}]}`,
	"backups/chat_mira_20250102-030405.jsonl":         `{"chat_metadata":{"integrity":"e"}}` + strings.Repeat("\n"+`{"name":"A","is_user":true,"mes":"what nobody has any more"}`, 5),
	"backups/chat_mira_holm_20250102-030405.jsonl":    `{"chat_metadata":{"integrity":"f"}}` + "\n" + `{"name":"A","is_user":true,"mes":"of a chat that is gone"}`,
	"chats/Mira Holm/evening.jsonl":                   `{"chat_metadata":{"integrity":"h"}}`,
	"group chats/g.jsonl":                             `{"name":"Anna","mes":"x"}`,
	"chats/Mira/kept.jsonl": `{"chat_metadata":{"auto_recap_running_scene_recaps":{"versions":[{"version":0,"timestamp":1767225600000,"scene_count":1,"prev_scene_index":0,"new_scene_index":0}]}}}` + "\n" +
		`{"name":"Mira","mes":"x"}`,
	"chats/Mira/kept.luker-state.hp__floor_log.json": `{"version":1,"commits":[{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]}]}`,
	"chats/Mira/kept.luker-state.hp.json":            `{"a":2}`,
	"characters/Mira.json":                           `{"name":"Mira","chat":"story"}`,
	"groups/7.json":                                  `{"id":"7","name":"Pair","chats":["g"],"chat_id":"g","chat_metadata":{"world_info":"Sea"}}`,
	"worlds/Sea.json":                                `{"name":"Sea","entries":{"0":{"uid":0,"comment":"Sea"},"1":{"uid":1,"comment":"__operation_queue","content":"{\"queue\":[]}"}}}`,
	"worlds/Bad.json":                                `{`,
	"worlds/Land.json":                               `{"entries":{}}`,
	"chats/Fat/fat.jsonl":                            `{"chat_metadata":{}}` + "\n" + `{"name":"Fat","mes":"a","swipe_id":0,"swipes":["a","b"],"extra":{"image":"data:image/png;base64,iVBORw0KGgo="}}`,
	"merged/into/m.jsonl":                            `{"chat_metadata":{}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}` + "\n" + `{"name":"U","is_user":true,"mes":"b"}` + "\n" + `{"name":"M","is_user":false,"mes":"c"}`,
	"merged/phone/m.jsonl":                           `{"chat_metadata":{}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}` + "\n" + `{"name":"U","is_user":true,"mes":"b"}` + "\n" + `{"name":"M","is_user":false,"mes":"z"}`,
	"merged/into/e.jsonl":                            `{"chat_metadata":{}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}`,
	"merged/phone/e.jsonl":                           `{"chat_metadata":{}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}`,
	"merged/into/l.jsonl":                            `{"chat_metadata":{"note_prompt":"x"}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}` + "\n" + `{"name":"U","is_user":true,"mes":"b"}`,
	"merged/phone/l.jsonl":                           `{"chat_metadata":{"note_prompt":"y"}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}` + "\n" + `{"name":"U","is_user":true,"mes":"b","extra":{"branches":["e"]}}`,
	"merged/into/s.jsonl":                            `{"chat_metadata":{}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}` + "\n" + `{"name":"U","is_user":true,"mes":"b"}` + "\n" + `{"name":"M","is_user":false,"mes":"c"}` + "\n" + `{"name":"M","is_user":false,"mes":"d"}`,
	"merged/phone/s.jsonl":                           `{"chat_metadata":{}}` + "\n" + `{"name":"M","is_user":false,"mes":"a"}` + "\n" + `{"name":"U","is_user":true,"mes":"b"}`,
	"merged/phone/torn.jsonl":                        `{"chat_metadata":{}}` + "\n{",
}
