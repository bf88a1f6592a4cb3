package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Where the files of a family and its neighbours are.
const (
	side  = "chats/Mira/Harbour side.jsonl"
	side2 = "chats/Mira/Harbour side 2.jsonl"
	inn   = "chats/Ines/Inn.jsonl"
	mira  = "characters/Mira.json"
	state = "chats/Mira/Harbour.luker-state.hp.json"
)

// edits returns the calls that edit in place, and those that give, take and change names.
func edits() []*scenario {
	family := snapshot{
		harbour: linked(`,"world_info":"Harbour Lore","auto_recap_running_scene_recaps":{"chat_id":"Harbour","versions":[]}`, 120, "bookmark_link", `"Harbour side"`),
		side:    linked(`,"main_chat":"Harbour"`, 60, "branches", `["Harbour","Harbour side 2"]`),
		side2:   chat(`,"main_chat":"Harbour side"`, 30),
		inn:     chat("", 10),
		quay:    strings.ReplaceAll(chat("", 10), "Wave", "Gull"), // of another family
		mira:    `{"name":"Mira","chat":"Harbour"}`,
		lore:    book(),
		state:   "{}",

		"characters/Ines.json": `{"name":"Ines","chat":"Inn"}`,
	}
	group := snapshot{supper: chat("", 120), supper2: chat("", 60), "groups/1773083112004.json": groupFile("Supper", "Supper 2")}
	solo := snapshot{
		harbour: chat("", 200), quay: chat("", 40), pier: chat("", 40),
		"ops.jsonl": strings.Join([]string{
			`{"op":"delete","at":[3,"7..9"]}`, `{"op":"set","at":5,"set":{"mes":"Calm."}}`,
			`{"op":"add","at":2,"message":{"name":"Mira","send_date":"2026-01-02T03:04:05.000Z","mes":"Foam."}}`, `{"op":"meta","set":{"note_depth":4}}`,
		}, "\n"),
	}
	there := "phone/" + harbour
	two := snapshot{harbour: chat("", 60) + "\n" + said("here"), there: chat("", 60) + "\n" + said("there")}
	fat := snapshot{"user/images/Mira/old.png": "old", harbour: strings.Replace(chat("", 80), `"extra":{`, `"extra":{"image":"data:image/png;base64,iVBORw0KGgo=",`, 1)}
	conflict := snapshot{harbour: chat("", 60), "chats/Mira/Harbour.sync-conflict-20260304-101112-ABCDEF7.jsonl": chat("", 60) + "\n" + said("there")}
	luker := snapshot{
		deep: chat("", 60),
		"chats/Luker/Deep.luker-state.chat_sync.json":        `{"integrity":"` + uuid + `","updated_at":1767225600000}`,
		"chats/Luker/Deep.luker-state.quest.json":            `{"step":1,"bag":["rope"]}`,
		"chats/Luker/Deep.luker-state.tides__floor_log.json": floorLog(70), // ten beyond the end
		"chats/Luker/Deep.luker-state.tides__schema.json":    `{"version":1}`,
	}
	call := func(args ...string) func(string) []string {
		return func(string) []string { return args }
	}
	talks := snapshot{harbour: solo[harbour], mira: family[mira], "talks.json": "[" + talk("The tide", "1") + "," + talk("The ebb", "2") + "]", "talk.json": talk("The tide", "1")}
	tree := maps.Clone(group)
	tree["talk.json"] = talk("The tide", "1")
	many := snapshot{} // more than are committed at once
	for i := range 70 {
		many[fmt.Sprintf("chats/Mira/%02d.jsonl", i)] = chat("", 20)
	}
	renamed := []string{"rename", harbour, want}
	tide := []string{"Wave", "Tide"}
	sub := func(chats ...string) []string {
		return slices.Concat([]string{"replace"}, tide, chats)
	}
	rows := func(chats ...string) []string {
		return append([]string{"export", "--format", "rows", "-o", "data.ndjson"}, chats...)
	}
	note := func(chats ...string) []string {
		return append(append([]string{"meta", "set"}, chats...), "--set", "note_depth=4")
	}
	return []*scenario{
		{name: "rename", files: family, goes: true, args: func(label string) []string { return []string{"rename", harbour, label} }},
		{name: "rename --family", files: family, goes: true, args: call("rename", "--family", harbour, want)},
		{name: "rename of a group chat", files: group, goes: true, args: call("rename", supper, want)},
		{name: "rename of a lorebook", files: family, goes: true, masked: true, args: call("rename", lore, want)},
		{name: "rm", files: family, goes: true, masked: true, args: call("rm", side)},
		{name: "rm --family", files: family, goes: true, masked: true, args: call("rm", "--family", side, "-y")},
		{name: "rm of a group chat", files: group, goes: true, args: call("rm", supper)},
		{name: "move --family", files: family, goes: true, args: call("move", "--family", side, "chats/Ines")},
		{name: "move --cut", files: family, goes: true, masked: true, args: call("move", "--cut", side, "chats/Ines")},
		{name: "open", files: family, args: call("open", side)},
		{name: "delete --save", files: solo, args: call("delete", harbour, "-a", "-10..", "--save", "removed.jsonl")},
		{
			name: "edit in three chats", files: solo, apart: true, args: call(sub(harbour, quay, pier)...),
			partly: [][]string{sub(harbour), sub(quay), sub(pier)},
		},
		{name: "edit --ops", files: solo, args: call("edit", harbour, "--ops", "ops.jsonl")},
		{
			name: "meta set in three chats", files: solo, apart: true, args: call(note("chats")...),
			partly: [][]string{note(harbour), note(quay), note(pier)},
		},
		{name: "meta set in 70 chats", files: many, only: "kills", args: call(note("chats")...), partly: [][]string{note("chats/Mira/00.jsonl")}},
		{name: "delete in a Luker chat", files: luker, goes: true, masked: true, args: call("delete", deep, "-a", "40..")},
		{name: "state set", files: luker, args: call("state", "set", deep, "quest", "--set", "step=2", "--unset", "bag")},
		{name: "state set --at", files: luker, args: call("state", "set", deep, "hp", "--at", "10", "--set", "value=7")},
		{name: "state set --delete", files: luker, goes: true, args: call("state", "set", deep, "tides", "--delete")},
		{name: "repair --rule luker-floor", files: luker, masked: true, args: call("repair", deep, "--rule", "luker-floor", "-y")},
		{name: "new", files: family, masked: true, args: func(label string) []string { return []string{"new", mira, "--name", label} }},
		{name: "copy of a Luker chat", files: luker, masked: true, args: func(label string) []string { return []string{"copy", deep, "--name", label} }},
		{name: "copy --open to a character", files: family, masked: true, args: func(label string) []string { return []string{"copy", harbour, "chats/Ines", "--name", label, "--open"} }},
		{name: "join of group chats", files: group, masked: true, group: true, args: func(label string) []string { return []string{"join", supper, supper2, "--name", label} }},
		{name: "restore --in-place", files: solo, masked: true, store: true, setup: [][]string{{"snapshot", "."}, {"delete", harbour, "-a", "100.."}}, args: call("restore", "--in-place", harbour)},
		{
			name: "import", files: talks, masked: true, makes: []string{"chats/Mira/The tide.jsonl", "chats/Mira/The ebb.jsonl"},
			args: call("import", "talks.json", "chats/Mira"), partly: [][]string{{"import", "talk.json", "chats/Mira"}},
		},
		{name: "import --open", files: talks, masked: true, args: call("import", "talk.json", "chats/Mira", "--open")},
		{
			name: "import into a group", files: tree, masked: true, group: true, makes: []string{"group chats/The tide.jsonl"},
			args: call("import", "talk.json", "groups/1773083112004.json"),
		},
		{
			name: "export of pages", files: solo, only: "kills", makes: []string{"site/Mira/Harbour.html", "site/index.html"}, args: call("export", "chats", "-o", "site/"),
			partly: [][]string{{"export", harbour, "-o", "site/Mira/Harbour.html"}}, // without the index
			again:  []string{"export", "chats", "-o", "site/", "--force"},
		},
		{
			name: "export of data", files: solo, makes: []string{"data.ndjson"}, args: call(rows("chats")...),
			partly: [][]string{rows(harbour), rows(quay), rows(pier), rows(harbour, quay), rows(harbour, pier), rows(pier, quay)},
		},
		{
			name: "export --force", files: solo, setup: [][]string{rows(harbour)},
			args: call(append(rows(quay, pier), "--force")...), partly: [][]string{append(rows(quay), "--force"), append(rows(pier), "--force")},
		},
		{name: "merge", files: two, masked: true, args: call("merge", "-y", harbour, there)},
		{name: "merge --conflicts", files: conflict, goes: true, only: "kills", args: call("merge", "-y", ".", "--conflicts")},
		{name: "split", files: solo, masked: true, only: "kills", args: call("split", harbour, "--at", "50,120")},
		{name: "slim", files: fat, args: call("slim", harbour, "--drop", "swipes,images", "--keep-last", "0")},
		{name: "undo of a rename", files: family, goes: true, setup: [][]string{renamed}, args: call("undo", "--data", ".")},
		{name: "undo of rm", files: family, goes: true, masked: true, setup: [][]string{{"rm", "--family", side, "-y"}}, args: call("undo", "--data", ".")},
	}
}

// talk returns a conversation of another program's, a tree with two leaves.
func talk(title, id string) string {
	node := func(id, parent, role, text string, at int) string {
		return fmt.Sprintf(`%q:{"parent":%q,"message":{"author":{"role":%q},"create_time":%d,"content":{"parts":[%q]}}}`, id, parent, role, 1767225600+at, text)
	}
	list := []string{
		node("a", "", "user", "Is it high water?", 0), node("b", "a", "assistant", strings.Repeat("The sea is at the door. ", 2_000), 1),
		node("c", "b", "user", "Open it.", 2), node("d", "b", "user", "Leave it.", 3),
	}
	return fmt.Sprintf(`{"conversation_id":%q,"title":%q,"current_node":"c","mapping":{%s}}`, id, title, strings.Join(list, ","))
}

// said returns a message.
func said(text string) string {
	return fmt.Sprintf(`{"name":"You","is_user":true,"is_system":false,"send_date":"2026-02-01T00:00:00.000Z","mes":%q,"extra":{}}`, text)
}

// linked returns a chat whose first message names others.
func linked(metadata string, n int, key, value string) string {
	return strings.Replace(chat(metadata, n), `"extra":{`, `"extra":{"`+key+`":`+value+`,`, 1)
}
