package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// described is one row of docs/json.md.
type described struct {
	types  []string // alternatives
	filled bool     // some document had more than null or an empty list there
}

// readJSONPage gives the tables of docs/json.md: the keys by section.
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
			continue
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

// is tells whether a value has a type of the page.
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
			case section == "inspect" && key == "extensions":
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
	return fmt.Sprint("extensions: ", doc["name"])
}

// TestJSONDocumentsAreDescribed runs every command that prints JSON, holds
// what it prints against docs/json.md, and sees to it that everything that is
// described there has been printed.
func TestJSONDocumentsAreDescribed(t *testing.T) {
	p := &jsonPage{t, readJSONPage(t)}
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
	at := func(path string) string { return filepath.Join(user, filepath.FromSlash(path)) }
	story := at("chats/Mira/story.jsonl")
	for _, c := range []struct {
		section, last string // of the documents, and of the last one where it is another
		codes         string
		args          []string
	}{
		{"inspect", "inspect: the last document", "0", []string{"inspect", "--json", user}},
		{"inspect", "inspect: the last document", "0", []string{"inspect", "--json", at("chats/Mira"), at("loose.jsonl")}},
		{"inspect --messages", "", "0", []string{"inspect", "--messages", "--json", user}},
		{"diff-meta", "", "1", []string{"diff-meta", "--format", "json", story, at("loose.jsonl")}},
		{"diff-meta", "", "1", []string{"diff-meta", "--format", "json", at("bare.jsonl"), story}},
		{"check", "check: the last document", "1", []string{"check", "--format", "json", user}},
		{"check --list-rules", "", "0", []string{"check", "--list-rules", "--format", "json"}},
		{"checkpoint, branch", "", "0", []string{"checkpoint", "--json", "--isolate", "--link", "--skip-damaged", "--at", "1", "-n", "point", story}},
		{"checkpoint, branch", "", "0", []string{"branch", "--json", "--link", "--at", "0", at("group chats/g.jsonl")}},
		{"checkpoint, branch", "", "0", []string{"checkpoint", "--json", "--skip-damaged", "--dry-run", "--main-chat", "", "--integrity", "none", story}},
		{"clone-lorebook", "", "0", []string{"clone-lorebook", "--json", at("worlds/Sea.json"), "--rebind", at("chats/Mira/child.jsonl")}},
		{"clone-lorebook", "", "0", []string{"clone-lorebook", "--json", at("worlds/Sea.json"), "--name", "Land"}},
		{"repair", "", "1", []string{"repair", "--json", user}},
		{"repair", "", "0", []string{"repair", "--json", "--write", story}},
		{"version", "", "0", []string{"version", "--json"}},
	} {
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
			if section := c.section; c.last != "" && i == len(lines)-1 {
				p.check(c.last, "", doc)
			} else {
				p.check(section, "", doc)
			}
		}
	}
	for section, rows := range p.sections {
		for key, row := range rows {
			// what the build or the disk decides
			if !row.filled && (section != "version" || key != "commit") {
				t.Errorf("docs/json.md, %s: %s is described, but no document of this test has it", section, key)
			}
		}
	}
}

// jsonWorld is a user folder in which there is something of everything.
var jsonWorld = map[string]string{
	"loose.jsonl": `{"chat_metadata":{"world_info":"Sea","integrity":"1"}}` + "\n" + `{"name":"A","mes":"x","send_date":"some day"}`,
	"bare.jsonl":  `{"mes":"no header"}`,
	"chats/Mira/story.jsonl": `{"chat_metadata":{"integrity":"1","world_info":"Sea","main_chat":"gone","own key":{"x":1},"lastInContextMessageId":9,` +
		`"auto_recap_running_scene_recaps":{"chat_id":"story","current_version":1,"versions":[{"version":0,"new_scene_index":0,"content":"a"},{"version":1,"new_scene_index":2,"content":"b"}]},` +
		`"autoLorebooks":{"pendingOps":{"entry_1":{"timestamp":1}}},"auto_illustrator":{"promptRegistry":{"nodes":{"p":{"messageId":2}},"imageToPromptId":{"u":"p"},"rootPromptIds":["p"]}}},"user_name":"unused","character_name":"unused"}` + "\n" +
		`{"name":"Mira","is_user":false,"send_date":"2026-01-02T03:04:05.000Z","mes":"Hello","swipe_id":0,"swipes":["Hello","Hi"],"swipe_info":[{},{}],"extra":{"auto_recap_memory":{"scene_break":true,"scene_recap_memory":"They met."}}}` + "\n" +
		"{\"torn\n" +
		`{"name":"User","is_user":true,"mes":"Ahoy","extra":{"bookmark_link":"old point","branches":["child"],"auto_recap_memory":{"scene_break":true,"scene_break_visible":false}}}` + "\n" +
		"{\"name\":\"Mira\",\"mes\":\"\xff\",\"is_system\":true}\n" +
		`{"name":"Mira","mes":"second","swipe_id":7,"swipes":["second"],"extra":{"type":"comment"}}`,
	"chats/Mira/child.jsonl":                          `{"chat_metadata":{"main_chat":"story","world_info":"Sea","timedWorldInfo":{"sticky":{"Sea.0":{"hash":1,"start":0,"end":1}}}}}` + "\n" + `{"name":"Mira","mes":"Hello"}`,
	"chats/Mira/old point.jsonl":                      `{"chat_metadata":{"main_chat":"story","world_info":"Bad"},"create_date":"2024-1-5@3h04m05s"}`,
	"chats/Mira/story.luker-state.hp__floor_log.json": `{"version":1,"commits":[{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/a","value":1}]}]}`,
	"group chats/g.jsonl":                             `{"name":"Anna","mes":"x"}`,
	"groups/7.json":                                   `{"id":"7","name":"Pair","chats":["g"],"chat_id":"g","chat_metadata":{"world_info":"Sea"}}`,
	"worlds/Sea.json":                                 `{"name":"Sea","entries":{"0":{"uid":0,"comment":"Sea"},"1":{"uid":1,"comment":"__operation_queue","content":"{\"queue\":[]}"}}}`,
	"worlds/Bad.json":                                 `{`,
	"worlds/Land.json":                                `{"entries":{}}`,
}
