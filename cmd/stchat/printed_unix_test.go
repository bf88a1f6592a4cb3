//go:build unix

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command that snapshot, log and lost print works as it stands, in a shell, from another
// folder, whatever the names are.
func TestPrintedCommands(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := &printed{t: t, rng: rand.New(rand.NewPCG(seed, 5)), root: filepath.Join(t.TempDir(), "it's mine & yours", "-user")}
			loose := seed%3 == 2
			if p.chats = filepath.Join("chats", "$Mira"); loose {
				p.chats = "-old; ones"
				p.store = "../the store.db"
			}
			for _, dir := range []string{p.chats, "backups"} {
				if err := os.MkdirAll(filepath.Join(p.root, dir), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			for range 6 {
				p.change()
				p.follow()
			}
			if p.ran < 8 {
				t.Errorf("only %d commands were printed", p.ran)
			}
		})
	}
}

// printed is a folder of chats, and what was printed about it.
type printed struct {
	t           *testing.T
	rng         *rand.Rand
	root        string
	chats       string // the folder of chats in it
	store       string // the value of STCHAT_STORE
	serial, ran int
}

// stchat runs the program in the folder, and returns what it prints.
func (p *printed) stchat(args ...string) (out, said string) {
	p.t.Helper()
	cmd := exec.Command("stchat", args...)
	cmd.Env = append(cmd.Environ(), storeVariable+"="+p.store)
	cmd.Dir = p.root
	var errs strings.Builder
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || e.ExitCode() != exitNo) {
		p.t.Fatalf("%q: %v: %s", args, err, errs.String())
	}
	return string(text), errs.String()
}

// change does something to the chats, as a person or a page does.
func (p *printed) change() {
	p.t.Helper()
	write := func(path string, slug string, n int) {
		lines := []string{fmt.Sprintf(`{"chat_metadata":{"integrity":%q}}`, slug), `{"name":"Mira","mes":"Hello"}`}
		for range n {
			p.serial++
			lines = append(lines, fmt.Sprintf(`{"name":"You","is_user":true,"mes":"m%d"}`, p.serial))
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			p.t.Fatal(err)
		}
	}
	name := func() string {
		p.serial++
		return filepath.Join(p.root, p.chats, fmt.Sprintf([]string{"-a%d", "b %d", "it's %d", "c$%d", "d`%d"}[p.rng.IntN(5)], p.serial)+".jsonl")
	}
	for range 2 {
		write(name(), fmt.Sprint("slug", p.serial), 6)
	}
	p.stchat("snapshot", "-q", ".")
	files, err := filepath.Glob(filepath.Join(p.root, p.chats, "*.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, path := range files {
		p.serial++
		var err error
		switch p.rng.IntN(6) {
		case 0:
			err = os.Remove(path)
		case 1:
			write(path, fmt.Sprint("greeting", p.serial), 0)
		case 2:
			err = os.Rename(path, name())
		case 3: // gone, and another has its name
			err = os.Rename(files[p.rng.IntN(len(files))], path)
		case 4:
			backup := fmt.Sprintf("backups/chat__mira_2026%02d%02d-101010.jsonl", 1+p.serial%12, 1+p.serial%28)
			if data, failed := os.ReadFile(path); failed == nil {
				err = errors.Join(os.WriteFile(filepath.Join(p.root, backup), data, 0o666), os.Remove(path))
			}
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // another took it away
			p.t.Fatal(err)
		}
	}
}

// follow runs what was printed.
func (p *printed) follow() {
	p.t.Helper()
	_, said := p.stchat("snapshot", ".")
	for _, m := range regexp.MustCompile(`(?m): ((?:STCHAT_STORE=.*)?stchat lost.*)$`).FindAllStringSubmatch(said, -1) {
		p.run(m[1])
	}
	for range 4 {
		out, _ := p.stchat("lost", "-v", ".")
		gone := 0
		for row := range strings.SplitSeq(strings.Trim(out, "\n"), "\n") {
			cells := strings.Split(row, "\t")
			if len(cells) < 9 || cells[8] == "" {
				continue
			}
			if cells[2] == "" {
				gone++
			}
			p.run(cells[8])
		}
		if gone == 0 {
			break
		}
	}
	out, _ := p.stchat("lost", ".")
	for row := range strings.SplitSeq(out, "\n") {
		if cells := strings.Split(row, "\t"); len(cells) == 9 && cells[2] == "" && cells[3] != "0" {
			p.t.Errorf("still gone: %s", row)
		}
	}
}

func (p *printed) run(command string) {
	p.t.Helper()
	p.ran++
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Errorf("%s: %v: %s", command, err, out)
	}
}
