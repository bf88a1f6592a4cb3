//go:build faults

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// harnessFor builds the program and prepares some of the scenarios.
func harnessFor(t *testing.T, log *bytes.Buffer, names ...string) *harness {
	t.Helper()
	h := &harness{dir: t.TempDir(), seed: 1, workers: 2, tally: &tally{log: log}}
	var err error
	if h.bin, err = build(h.dir); err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(scenarios(), func(sc *scenario) bool {
		return sc.only != "" || len(names) > 0 && !slices.Contains(names, sc.name)
	})
	if err := h.prepare(all, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestKills is a short run of the harness: every command, killed a few times.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and kills it")
	}
	var log, out bytes.Buffer
	h := harnessFor(t, &log)
	h.kills = 3 * len(h.cases)
	if err := h.killAll(&out); err != nil {
		t.Fatal(err)
	}
	if h.tally.broken > 0 {
		t.Errorf("promises were broken:\n%s%s", &log, &out)
	}
}

// TestCalls lets the calls fail that put a file in place, in the command with the
// most to put.
func TestCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and traces it")
	}
	var log bytes.Buffer
	h := harnessFor(t, &log, "checkpoint --link")
	if !h.canTrace() {
		t.Skip("no strace here")
	}
	sc := h.cases[0]
	dir := t.TempDir()
	if err := h.settle(sc, dir); err != nil {
		t.Fatal(err)
	}
	hits := 0
	for _, call := range sysCalls() {
		if !slices.Contains([]string{"write", "fsync,fdatasync", "linkat", "renameat,renameat2", "unlinkat,unlink"}, call.names) {
			continue
		}
		for n := 1; n <= 2; n++ {
			hit, err := h.inject(sc, dir, call, call.errors[0], false, n, nil)
			if err != nil {
				t.Skip("strace cannot trace here: ", err) // a sandbox
			}
			if hit {
				hits++
			}
		}
	}
	if hits == 0 {
		t.Error("no call was hit")
	}
	if h.tally.broken > 0 {
		t.Errorf("promises were broken:\n%s", &log)
	}
}

// TestMeddle: a source that changes between its reads is refused, at whichever of
// them. A branch with a swipe once took its last message from the changed file.
func TestMeddle(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and traces it")
	}
	var log bytes.Buffer
	h := harnessFor(t, &log, "branch --swipe")
	if !h.canTrace() {
		t.Skip("no strace here")
	}
	rewrite := meddlers()[slices.IndexFunc(meddlers(), func(m meddler) bool { return strings.HasPrefix(m.name, "rewrites") })]
	const reads = 6
	h.workers = reads
	err := h.each(reads, func(i int, dir string) error {
		at := fmt.Sprintf("pread64:delay_enter=%d:when=%d", pause.Microseconds(), i+1)
		return h.meddle(h.cases[0], rewrite, harbour, at, dir)
	})
	if err != nil {
		t.Skip("strace cannot trace here: ", err) // a sandbox
	}
	if h.tally.broken > 0 {
		t.Errorf("promises were broken:\n%s", &log)
	}
}

// world makes a scenario whose call makes one checkpoint, without the program.
func world() *scenario {
	const target = "chats/Mira/Harbour__cp.jsonl"
	sc := &scenario{name: "test", targets: []string{target}, allowed: map[string]map[string]bool{}}
	sc.old = snapshot{harbour: chat("", 2)}
	sc.new = maps.Clone(sc.old)
	sc.new[target] = chat(`,"main_chat":"Harbour"`, 1)
	sc.allow(sc.old)
	sc.allow(sc.new)
	return sc
}

// TestLook: what the harness is there to see, it sees.
func TestLook(t *testing.T) {
	const target = "chats/Mira/Harbour__cp.jsonl"
	const temp = "chats/Mira/.stchat-0123456789ab-77-89abcdef.tmp"
	for _, test := range []struct {
		name  string
		do    func(s snapshot)
		state string
		want  string // in what is broken; empty: nothing is
	}{
		{"old", func(snapshot) {}, old, ""},
		{"old with a temporary file", func(s snapshot) { s[temp] = "x" }, old, ""},
		{"new", func(s snapshot) { s[target] = chat(`,"main_chat":"Harbour"`, 1) }, made, ""},
		{"torn target", func(s snapshot) { s[target] = chat(`,"main_chat":"Harbour"`, 1)[:99] }, between, "neither old nor new"},
		{"torn source", func(s snapshot) { s[harbour] = s[harbour][:500] }, between, "neither old nor new"},
		{"empty target", func(s snapshot) { s[target] = "" }, between, "neither old nor new"},
		{"source gone", func(s snapshot) { delete(s, harbour) }, between, "is gone"},
		{"stray file", func(s snapshot) { s["chats/Mira/x.jsonl"] = "" }, between, "stray"},
		{"strange temporary name", func(s snapshot) { s["chats/Mira/.stchat-x.tmp"] = "" }, between, "stray"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			sc := world()
			s := maps.Clone(sc.old)
			test.do(s)
			if err := s.put(dir, nil); err != nil {
				t.Fatal(err)
			}
			f, err := sc.look(dir)
			if err != nil {
				t.Fatal(err)
			}
			broken := strings.Join(f.broken, "; ")
			if f.state != test.state || (test.want == "") != (broken == "") || !strings.Contains(broken, test.want) {
				t.Errorf("state %s, broken: %s; want %s, %s", f.state, broken, test.state, test.want)
			}
		})
	}
}

// TestDangling: whatever points at a file that is not there is found.
func TestDangling(t *testing.T) {
	whole := snapshot{
		harbour:             strings.Replace(chat(`,"main_chat":"Quay","world_info":"Harbour Lore"`, 2), `"extra":{`, `"extra":{"bookmark_link":"Pier","branches":["Quay"],`, 1),
		quay:                chat("", 1),
		pier:                chat("", 1),
		lore:                book(),
		supper:              chat("", 1),
		"groups/1.json":     groupFile("Supper"),
		mira:                `{"name":"Mira","chat":"Harbour"}`,
		"worlds/other.json": "{}",
	}
	if list := whole.dangling(); len(list) > 0 {
		t.Errorf("nothing dangles, but: %q", list)
	}
	for name, want := range map[string]int{quay: 2, pier: 1, lore: 1, supper: 2, mira: 0, harbour: 1} {
		if list := whole.without([]string{name}).dangling(); len(list) != want {
			t.Errorf("without %s: %q, want %d", name, list, want)
		}
	}
}

// TestJudge: an exit code, a message or a state that is not as promised is told.
func TestJudge(t *testing.T) {
	const target = "chats/Mira/Harbour__cp.jsonl"
	const full = "stchat: " + target + ": no space left on device\n"
	for _, test := range []struct {
		name   string
		out    outcome
		t      trouble
		made   bool
		temp   bool
		broken bool
	}{
		{name: "done", made: true},
		{name: "nothing done", broken: true},
		{name: "failed", out: outcome{code: 2, stderr: full}, t: trouble{cause: "no space left"}},
		{name: "failed without a word", out: outcome{code: 2}, broken: true},
		{name: "failed for another reason", out: outcome{code: 2, stderr: full}, t: trouble{cause: "input/output"}, broken: true},
		{name: "failed without a name", out: outcome{code: 2, stderr: "stchat: no space left\n"}, broken: true},
		{name: "failed at the user folder", out: outcome{code: 2, stderr: "stchat: DIR: no space left on device\n"}, t: trouble{cause: "no space left"}},
		{name: "failed, but all is there", out: outcome{code: 2, stderr: full}, made: true, broken: true},
		{name: "failed, but what is there was named", out: outcome{code: 2, stdout: target + "\n", stderr: full}, made: true},
		{name: "failed, with a temporary file", out: outcome{code: 2, stderr: full}, temp: true, broken: true},
		{name: "wrong exit code", out: outcome{code: 1, stderr: full}, broken: true},
		{name: "unnoticed", t: trouble{mustFail: true}, made: true, broken: true},
		{name: "interrupted", out: outcome{code: 2, stderr: "stchat: " + target + ": interrupted\n"}, t: trouble{signal: true}},
		{name: "interrupted without a word", out: outcome{code: 2, stderr: full}, t: trouble{signal: true}, broken: true},
		{name: "panic", out: outcome{code: 2, stderr: full + "goroutine 1 [running]:\n"}, broken: true},
		{name: "killed", out: outcome{code: -1}, t: trouble{killed: true}, temp: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.out.stderr = strings.ReplaceAll(test.out.stderr, "DIR", dir)
			sc := world()
			s := sc.old
			if test.made {
				s = sc.new
			}
			if test.temp {
				s = maps.Clone(s)
				s["chats/Mira/.stchat-0123456789ab-77-89abcdef.tmp"] = "x"
			}
			if err := s.put(dir, nil); err != nil {
				t.Fatal(err)
			}
			h := &harness{tally: &tally{log: new(bytes.Buffer)}}
			if err := h.judge(sc, dir, "row", "how", test.out, test.t); err != nil {
				t.Fatal(err)
			}
			if got := h.tally.broken > 0; got != test.broken {
				t.Errorf("broken: %t, want %t\n%s", got, test.broken, h.tally.log)
			}
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(target))); err == nil {
				t.Error("the world was not made new")
			}
		})
	}
}

// TestOrdered: a name that comes before its bytes, or a folder that is not synced, is told.
func TestOrdered(t *testing.T) {
	const write = "7 write(8</w/c/.t>, \"x\", 1) = 1\n"
	const sync = "7 fsync(8</w/c/.t>) = 0\n"
	const link = "7 linkat(AT_FDCWD</w>, \"c/.t\", AT_FDCWD</w>, \"c/x.jsonl\", 0) = 0\n"
	const folder = "7 fsync(8</w/c>) = 0\n"
	for _, test := range []struct {
		log string
		bad int
	}{
		{write + sync + link + folder, 0},
		{write + "9 fsync(8</w/c/.t> <unfinished ...>\n8 write(1</dev/null>, \"\", 0) = 0\n9 <... fsync resumed>) = 0\n" + link + folder, 0},
		{write + link + sync + folder, 1},
		{write + sync + write + link + folder, 1},
		{write + sync + link, 1},
		{write + sync + folder + link, 1},
		{write + link, 2},
	} {
		if files, bad := ordered(test.log, "/w"); files != 1 || len(bad) != test.bad {
			t.Errorf("%q: %d files, %q; want 1, %d", test.log, files, bad, test.bad)
		}
	}
}
