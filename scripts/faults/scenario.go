package main

import (
	"slices"
	"strings"
)

// Where the worlds' files are.
const (
	harbour = "chats/Mira/Harbour.jsonl"
	quay    = "chats/Mira/Quay.jsonl"
	pier    = "chats/Mira/Pier.jsonl"
	deep    = "chats/Luker/Deep.jsonl"
	supper  = "group chats/Supper.jsonl"
	supper2 = "group chats/Supper 2.jsonl"
	lore    = "worlds/Harbour Lore.json"
	uuid    = "7f3c1e2a-9b4d-4c58-8a6e-1d2f3b4c5d6e"
)

// scenario is one way to call the program in one world.
type scenario struct {
	name  string
	files snapshot
	setup [][]string // calls that come before, in each world anew
	// args is the call; label goes into the names of what it makes.
	args func(label string) []string
	// partly are calls for fewer sources: where some fail, what they leave is right.
	partly [][]string
	again  []string // the call that sweeps folders that no other comes to
	apart  bool     // each of its files is changed by itself, all with one journal
	goes   bool     // files go, or get other names
	masked bool     // slugs and times differ from run to run
	makes  []string // files that the call must make, or the scenario is none
	linked bool     // the new chats are noted in their sources
	group  bool     // they are listed by a group
	mends  bool     // chats are mended each by itself, with the old one kept
	store  bool     // with a history, and SQLite, which lets a failed sync of a folder pass
	only   string   // the system calls that it is for, "kills", or "meddle" where it writes nothing

	old, new snapshot
	allowed  map[string]map[string]bool // contents that a file may have; absent is "\x00"
	targets  []string                   // chats that the call makes
	appear   []string                   // files that it makes, of any kind
}

const absent = "\x00"

// want is the label of the call under test.
const want = "before the storm"

func scenarios() []*scenario {
	solo := snapshot{harbour: chat("", 300), quay: chat("", 40), pier: chat("", 40)}
	booked := snapshot{harbour: chat(`,"world_info":"Harbour Lore"`, 300), lore: book()}
	group := snapshot{supper: chat("", 120), supper2: chat("", 60), "groups/1773083112004.json": groupFile("Supper", "Supper 2")}
	luker := snapshot{
		deep: chat("", 120),
		"chats/Luker/Deep.luker-state.chat_sync.json":        `{"integrity":"` + uuid + `","updated_at":1767225600000}`,
		"chats/Luker/Deep.luker-state.tides__floor_log.json": floorLog(120),
		"chats/Luker/Deep.luker-state.tides__schema.json":    `{"version":1}`,
	}
	hurt := snapshot{
		harbour: chat("", 200) + "\n{\"name\":\"Mira\",\"mes\":\"The la",
		quay:    strings.Replace(chat("", 40), "\n", "\r\n", 5) + "\nnot a message\n" + `{"mes":"Wave"}`,
	}
	call := func(args ...string) func(string) []string {
		return func(label string) []string {
			return append(slices.Clone(args), "--name", label, "--unset", "integrity")
		}
	}
	reads := func(args ...string) func(string) []string {
		return func(string) []string { return args }
	}
	storm := func(args ...string) []string { return call(args...)(want) }
	return append(edits(), []*scenario{
		{name: "checkpoint", files: solo, args: call("checkpoint", harbour, "--at", "-2")},
		{name: "branch --swipe", files: solo, args: call("branch", harbour, "--at", "200", "--swipe", "2")},
		{name: "checkpoint --link", files: solo, args: call("checkpoint", harbour, "--link"), linked: true},
		{name: "branch --link", files: solo, args: call("branch", harbour, "--at", "150", "--link"), linked: true},
		{
			name: "checkpoint --force", files: solo, setup: [][]string{storm("checkpoint", harbour, "--at", "20")},
			args: call("checkpoint", harbour, "--at", "250", "--force"),
		},
		{
			name: "checkpoint --force --link", files: solo, setup: [][]string{storm("checkpoint", harbour, "--at", "20", "--link")},
			args: call("checkpoint", harbour, "--at", "250", "--force", "--link"), linked: true,
		},
		{name: "checkpoint of a group chat", files: group, args: call("checkpoint", supper), group: true},
		{
			name: "branch --link of two group chats", files: group, args: call("branch", supper, supper2, "--link"), group: true, linked: true,
			partly: [][]string{storm("branch", supper, "--link"), storm("branch", supper2, "--link"), storm("branch", supper2, supper, "--link")},
		},
		{
			name: "checkpoint --link of three chats", files: solo, args: call("checkpoint", harbour, quay, pier, "--link"), linked: true,
			partly: [][]string{storm("checkpoint", harbour, quay, "--link"), storm("checkpoint", pier, "--link")},
		},
		{name: "branch of a Luker chat", files: luker, args: call("branch", deep, "--at", "80"), masked: true},
		{name: "branch --link of a Luker chat", files: luker, args: call("branch", deep, "--at", "80", "--link"), masked: true, linked: true},
		{
			name: "checkpoint --lorebook clone", files: booked, args: call("checkpoint", harbour, "--lorebook", "clone"),
			makes: []string{"worlds/Harbour Lore__CP_" + want + ".json"},
		},
		{name: "branch --isolate --link", files: booked, args: call("branch", harbour, "--isolate", "--link"), linked: true, makes: []string{"worlds/Harbour Lore__CP_" + want + ".json"}},
		{
			name: "clone-lorebook --rebind", files: booked,
			args: func(label string) []string {
				return []string{"clone-lorebook", "--rebind", harbour, "--name", "Harbour " + label}
			},
		},
		{
			name: "checkpoint of a chat of 10 MB", files: snapshot{harbour: chat("", 8_000)}, only: "sync_file_range",
			args: call("checkpoint", harbour),
		},
		{name: "inspect", files: solo, only: "meddle", args: reads("inspect", "chats")},
		{name: "check", files: group, only: "meddle", args: reads("check", ".")},
		{name: "diff-meta", files: solo, only: "meddle", args: reads("diff-meta", harbour, quay)},
		{
			name: "repair -y", files: hurt, masked: true, mends: true,
			args: func(string) []string { return []string{"repair", "chats", "-y"} },
		},
	}...)
}
