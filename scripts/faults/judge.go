package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// trouble is the kind of disturbance that a run met, for judging its end.
type trouble struct {
	cause     string // what the message must say, where the run fails; "" for anything
	mustFail  bool   // the run may not end well
	signal    bool   // a signal: the run is done, or interrupted
	killed    bool   // SIGKILL
	mute      bool   // standard error may have failed, so there may be no message
	keepsTemp bool   // removing may have failed, so what should be gone may be there
}

// What became of a run.
const (
	done       = "done all the same"
	failed     = "failed, nothing changed"
	mostly     = "failed in part"
	unsynced   = "all written, other failures reported"
	wasKilled  = "killed"
	brokenness = "broken promises"
)

func columns() []string {
	return []string{"runs", done, failed, mostly, unsynced, wasKilled, brokenness}
}

// judge looks at what a disturbed run left, counts it in row and reports what is
// not as promised. The world is reset afterwards.
func (h *harness) judge(sc *scenario, dir, row, how string, out outcome, t trouble) error {
	f, err := sc.look(dir)
	if err != nil {
		return err
	}
	broken := f.broken
	// A group file that cannot be read may list the chat: this is said, and not an error.
	readable := !strings.Contains(out.stderr, "which cannot be read")
	if f.state == between && out.code != 0 && readable || slices.ContainsFunc(f.temps, isJournal) { // the next call ends it
		if f, err = h.end(sc, dir); err != nil {
			return err
		}
	}
	bad := append(broken, f.broken...)
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if strings.Contains(out.stderr, "goroutine ") || strings.Contains(out.stderr, "panic") {
		say("it panicked")
	}
	if len(f.temps) > 0 && !t.killed && !t.keepsTemp {
		say("temporary files are left: %s", strings.Join(f.temps, ", "))
	}
	what := ""
	if sc.mends && !t.killed && !t.keepsTemp {
		bad = append(bad, sc.halfMended(f.seen)...)
	}
	switch {
	case t.killed && out.code == -1:
		what = wasKilled
	case t.signal && out.code == -1:
		// The runtime was still starting.
		what = wasKilled
		if f.state != old || len(f.temps) > 0 {
			say("killed by a signal that it should have caught")
		}
	case out.code == 0:
		what = done
		if t.mustFail {
			say("the failure went unnoticed")
		}
		if f.state != made && readable {
			say("exit 0, but the state is %s", f.state)
		}
	case out.code != 2 && (!t.signal || out.code != 130 && out.code != 143):
		say("exit code %d", out.code)
	default:
		if !t.mute {
			bad = append(bad, sc.message(dir, out, t)...)
		}
		switch {
		case f.state == old:
			what = failed
		case t.mute && f.state != old:
			what = mostly
		case f.state == made:
			what = unsynced
			saysSo := saysWritten.MatchString(out.stderr) || sc.namesFile(dir, out.stdout)
			if !t.mute && !saysSo {
				say("all is written, but the message does not say so")
			}
		case f.reached(sc) || sc.mends || f.state == inPart:
			what = mostly
			if !sc.mends && len(sc.partly) == 0 {
				say("a part is written, and nothing says what is missing")
			}
		case t.keepsTemp:
			what = failed
		default:
			say("nothing was made, but something is left behind: %s", strings.Join(sc.left(f.seen), ", "))
		}
	}
	h.tally.add(row, "runs")
	if what != "" {
		h.tally.add(row, what)
	}
	if len(bad) > 0 {
		h.tally.add(row, brokenness)
		h.tally.fault(row, sc.name+", "+how, bad, out)
	}
	return h.reset(sc, dir, f.is)
}

// saysWritten finds what says that all is in place although something failed. Standard output
// says so, too: what was written is named there, and nothing else is.
var saysWritten = regexp.MustCompile(`synced|standard output|is noted, but|interrupted: .*, 0 not begun|files? mended`)

// fresh lists the loose chats that were not loose before.
func (sc *scenario) fresh(s snapshot) []string {
	var list []string
	before := strings.Join(sc.old.loose(sc.linked), "\n")
	for _, l := range s.loose(sc.linked) {
		if !strings.Contains(before, l) {
			list = append(list, l)
		}
	}
	return list
}

// halfMended lists quarantine files of chats that were not mended.
func (sc *scenario) halfMended(s snapshot) []string {
	var list []string
	for name := range s {
		stem, ok := strings.CutSuffix(name, ".damaged")
		if chat := stem + ".jsonl"; ok && s[chat] == sc.old[chat] {
			list = append(list, "left behind: "+name)
		}
	}
	return list
}

// left lists what is there and was not before.
func (sc *scenario) left(s snapshot) []string {
	var list []string
	for name, data := range s {
		if was, ok := sc.old[name]; !ok || was != data {
			list = append(list, name)
		}
	}
	return list
}

// message judges what a failed run says: lines of our own, of which one names the
// cause, and each a file of the world.
func (sc *scenario) message(dir string, out outcome, t trouble) []string {
	lines := out.errorLines()
	if len(lines) == 0 {
		return []string{"exit 2 without a message"}
	}
	text := strings.Join(lines, "\n")
	var bad []string
	switch {
	case t.signal && !strings.Contains(text, "interrupted"):
		bad = append(bad, "the message does not say that it was interrupted")
	case !t.signal && t.cause != "" && !strings.Contains(text, t.cause) && !strings.Contains(text, "history.db: "): // SQLite has words of its own
		bad = append(bad, "the message does not say: "+t.cause)
	}
	if !t.signal && !sc.namesFile(dir, text) {
		bad = append(bad, "the message names no file")
	}
	return bad
}

// namesFile reports whether a text names the world in dir, a file or folder of it, or
// a stream.
func (sc *scenario) namesFile(dir, text string) bool {
	if strings.Contains(text, "stchat: "+dir+": ") {
		return true // the user folder itself
	}
	for name := range sc.new {
		folder, _, _ := strings.Cut(name, "/")
		if strings.Contains(text, path.Base(name)) || strings.Contains(text, path.Dir(name)) || strings.Contains(text, "stchat: "+folder) {
			return true
		}
	}

	const inTemporaryFolder = "create a file in " // the system's
	for _, known := range []string{".stchat", "settings.json", "stchat: worlds", "standard output", "standard input", inTemporaryFolder} {
		if strings.Contains(text, known) {
			return true
		}
	}
	return false
}

// isJournal reports whether a file records what was begun and not ended.
func isJournal(name string) bool { return strings.HasSuffix(name, ".journal") }
