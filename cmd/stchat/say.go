package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/visible"
)

// hint says which flag or command helps with a kind of error; internal/ knows neither.
type hint struct {
	kind error // for errors.Is
	text string
}

// saying is how the results of a verb are printed.
type saying struct {
	counted bool // the steps are told otherwise
	hints   []hint
	no      func(error) bool // whether an error is an answer to what was asked; nil: isNo
	end     func()           // tells what is to be known of all results; nil: nothing

	edited []string // the chats that were edited in place, to be reloaded
	bumped bool     // all of them have a new slug
	left   int      // chats that have left their paths, so that an open tab would make the file anew
	lukers bool     // one of these is Luker's
}

// say prints all about a result but its document and its block: the warnings, what arguments were taken
// to mean, and the error with its hint; and with --verbose the facts, where no block has them, and the
// steps. source is what the result was made from.
func say[D any](c *console, how *saying, source string, r *ops.Result[D]) {
	c.ended(r.Ended)
	for _, warning := range r.Warnings {
		isFact := func(f ops.Fact) bool { return f.Warning == warning }
		if inBlock := c.tells() && slices.ContainsFunc(r.Facts, isFact); !inBlock {
			c.warn("%s", warning)
		}
	}

	if r.Err != nil {
		c.failed(source, withHint(r.Err, how.hints))
		return
	}
	c.notes(r.Notes)
	if c.verbose && !c.tells() {
		c.tellFacts(source, r.Facts)
	}
	c.work.done++
	c.wrote = c.wrote || len(r.Steps) > 0 && !c.dryRun
	if c.verbose && !c.json && !how.counted {
		for _, s := range r.Steps {
			c.note("%s", stepText(s, c.dryRun))
		}
	}

	if r.NoRecord != nil {
		c.note("this is not recorded, so 'stchat undo' does not take it back: %v", r.NoRecord)
	}
	for _, d := range r.Dropped {
		// with --quiet too: undo can take back less than before
		c.errLine("", "", fmt.Sprintf("the record %s (%s) was dropped to keep undo within its limit; it held %s", d.ID, commandText(d.Command), formatBytes(d.Bytes)))
	}
}

// sayAll prints several results in order, each without an error as a document if JSON is
// wanted, and calls done for it. of returns what a result was made from, and the part that
// all verbs have; a result may have a document of its own. The error is that of printing, while
// what was done is told all the same on stderr, or else the worst outcome.
func sayAll[R, D any](c *console, how *saying, results []R, of func(R) (source string, r *ops.Result[D]), done func(R)) error {
	if how.no == nil {
		how.no = isNo
	}
	failed, no := false, false
	for _, one := range results {
		c.flush()
		source, r := of(one)
		say(c, how, source, r)
		if r.Err != nil {
			is := how.no(r.Err)
			failed, no = failed || !is, no || is
			continue
		}

		if c.json {
			var doc any = r.Doc
			if own, ok := any(one).(interface{ Document() any }); ok {
				doc = own.Document()
			}
			c.document(doc)
			c.flush()
		}

		done(one)
	}

	if c.printed() == nil || c.wrote {
		switch {
		case c.dryRun:
		case how.left > 0:
			c.closeLeftTabs(how)
		case len(how.edited) > 0:
			c.closeTabs(how.bumped, how.edited...)
		}
		if how.end != nil {
			how.end()
		}
	}
	return cmp.Or(c.unprinted(), outcome(failed, no))
}

// never is for [saying.no] of a verb that has no answer but done.
func never(error) bool { return false }

// stepText returns one step in words.
func stepText(s changeset.Step, would bool) string {
	do := map[changeset.Do]string{changeset.Create: "create", changeset.Replace: "change", changeset.Move: "move", changeset.Remove: "remove"}[s.Do]
	text := do + "d " + s.Path
	if would {
		text = "would " + do + " " + s.Path
	}
	if s.To != "" {
		text += " to " + s.To
	}
	return text + ": " + s.About
}

// commandText returns a recorded command as a shell takes it.
func commandText(args []string) string {
	if len(args) == 0 {
		return "stchat"
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = visible.Quote(a)
	}
	return "stchat " + strings.Join(quoted, " ")
}

// hinted is an error with a hint at its end.
type hinted struct {
	err  error
	text string
}

func (h *hinted) Error() string { return h.err.Error() + h.text }
func (h *hinted) Unwrap() error { return h.err }

// withHint adds the hint that fits an error: one of the verb's own, else one that holds for
// every verb.
func withHint(err error, own []hint) error {
	if err == nil || isA[*hinted](err) || isInterrupted(err) {
		return err
	}
	if none, ok := errors.AsType[*address.NoneError](err); ok {
		if len(none.Named) > 0 {
			return err // which has them
		}
		if none.Outside {
			return &hinted{err, "; go to the folder that has chats/ in it, or set " + dataVariable + " to it"}
		}
		if near := cmp.Or(didYouMean(none.Arg, none.Known, ""), nearOwner(none), nearChat(none)); near != "" {
			return &hinted{err, near}
		}
	}

	if errors.Is(err, chat.ErrEncoding) { // whatever else helps with damage
		return &hinted{err, "; 'stchat repair' puts that right"}
	}
	for _, h := range own {
		if errors.Is(err, h.kind) {
			return &hinted{err, h.text}
		}
	}

	if kind, ok := errors.AsType[*ops.Kind](err); ok && kind.Hint != "" {
		return &hinted{err, "; " + helps(kind.Hint)}
	}
	if stuck, ok := errors.AsType[*changeset.StuckError](err); ok {
		return &hinted{err, unended(stuck)}
	}
	if bad, ok := errors.AsType[*changeset.UnreadableError](err); ok && !errors.Is(err, fs.ErrPermission) { // without permission it is another user's
		return &hinted{err, unreadable(bad)}
	}
	if isA[*luker.DatabaseError](err) {
		return &hinted{err, "; export the chat from Luker and work on the export, outside this folder"}
	}
	for _, h := range []hint{
		{history.ErrNewer, "; update stchat"},
		{history.ErrBusy, "; run the command again when it is done"},
		{history.ErrNoLocks, "; keep it in a file on another disk, which " + storeVariable + " names"},
		{history.ErrCut, "; put a copy of it in its place, or move it away: the next snapshot begins another"},
		{history.ErrBroken, "; 'stchat store --verify' says what is lost"},
		{history.ErrOtherRoot, "; name another with " + storeVariable + " for this folder"},
		{names.ErrTaken, "; choose another name"},
		{message.ErrChosenSwipe, "; see 'stchat repair'"},
		{safefile.ErrBusy, "; run the command again when it is done"},
		{changeset.ErrElsewhere, "; 'undo --force' takes back what can be told by size, time and content"},
	} {
		if errors.Is(err, h.kind) {
			return &hinted{err, h.text}
		}
	}
	return err
}

// nearOwner returns the address that an argument may mean whose owner is mistyped: the name of one, or a word
// of it, is near. Where only an owner is meant it is the owner. It is the end of an error, "" if there is none.
func nearOwner(none *address.NoneError) string {
	typed, chat, _ := strings.Cut(none.Arg, "/")
	for _, known := range none.Known {
		for _, word := range append(strings.Fields(known), known) {
			if strings.Contains(known, "/") || didYouMean(typed, []string{word}, "") == "" {
				continue
			}
			if chat != "" && !none.Owner {
				known += "/" + chat
			}
			return fmt.Sprintf("; did you mean %q?", known)
		}
	}
	return ""
}

// nearChat returns the address whose chat an argument may mean, mistyped, without an owner or with one who is
// not known. It is the end of an error, "" if there is none.
func nearChat(none *address.NoneError) string {
	typed := path.Base(filepath.ToSlash(none.Arg))
	if none.Owner || typed == "*" || typed == "@" {
		return ""
	}
	var chats []string
	for _, known := range none.Known {
		if strings.Contains(known, "/") {
			chats = append(chats, path.Base(known))
		}
	}
	near := nearest(typed, chats)
	if near == "" {
		return ""
	}
	isNear := func(known string) bool { return strings.HasSuffix(known, "/"+near) }
	address := none.Known[slices.IndexFunc(none.Known, isNear)]
	return fmt.Sprintf("; did you mean %q?", address)
}

// helps returns how what would help is asked for.
func helps(hint string) string {
	return map[string]string{
		"changed-row": "'stchat store --verify' shows more, and -o writes the bytes of a version",
		"clone":       "--lorebook clone takes the book as it is now",
		"copy":        "'stchat copy' makes a chat of it there",
		"data":        "give the folder with --data",
		"floor":       "--at of 'stchat state set' begins one",
		"force":       "--force does it",
		"header":      "'stchat repair' makes one",
		"layout":      "put it among OWNER's chats as a .jsonl file, and 'stchat repair' makes lines of it",
		"merge":       "'stchat merge' takes it, since the chat may be there already",
		"leftover":    "remove it or choose another name",
		"name":        "choose another name",
		"naming":      "choose another name or --naming",
		"new-chat":    "-n NAME makes a new chat of it, -o writes its bytes",
		"no-link":     "leave --link out",
		"no-metadata": "fix that, or let the metadata count as {} with --skip-damaged",
		"no-slug":     "unset STCHAT_NEW_SLUG",
		"other-chat":  "'stchat merge OWNER FROM' brings it as a chat of its own",
		"no-source":   "'stchat snapshot' begins a history, and --from looks in a folder with copies",
		"plain":       "delete it first, or change it as it is",
		"relatives":   "--family takes them along, --cut removes the links",
		"repair":      "see 'stchat repair'",
		"replay":      "--force writes it, and Luker cuts it there",
		"restore":     "put it there with --in-place, or name a file with -o",
		"slug":        "leave integrity out, or give new or a UUID",
		"speaker":     "say who with --speaker",
		"swipe":       "'stchat swipe' chooses another",
		"untouched":   "without --link the source is not touched",
		"whose":       "'stchat merge OWNER FROM' says whose they are",
		"wait":        "let the extension finish, or --force leaves them as they are",
	}[hint]
}

// unreadable returns the hint for a journal or a record that cannot be read.
func unreadable(bad *changeset.UnreadableError) string {
	text := "; "
	if errors.Is(bad, changeset.ErrVersion) {
		text = "; update stchat, or "
	}
	text += "'stchat undo --prune " + visible.Quote(bad.ID) + "' drops it"
	if !bad.Done {
		text += " with what was kept for it"
	}
	return text
}

// unended returns the hint for a change that a killed run left half done.
func unended(stuck *changeset.StuckError) string {
	if stuck.Err != nil {
		return "; when that is fixed, the next command that writes there ends it"
	}
	return "; the next command that writes there ends it"
}

// noSyncVariable is the environment variable that leaves it to the system when data reaches the
// disk: faster on copies, not safe against power loss.
const noSyncVariable = "STCHAT_NO_SYNC"

// newSlugVariable is the environment variable that gives every chat edited in place a new slug.
const newSlugVariable = "STCHAT_NEW_SLUG"

// undoVariable is the environment variable that limits how much is kept for undo.
const undoVariable = "STCHAT_UNDO_MAX"

// parseSize reads a number of bytes, which may end in K, M, G or T for powers of 1024, and
// reports whether text is one.
func parseSize(text string) (int64, bool) {
	digits, shift := strings.ToUpper(text), 0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(digits, "B"), unit); ok {
			digits, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63-shift)
	return int64(n << shift), err == nil
}

// recorded returns a command as undo lists it: without the texts and values that it wrote.
// They would stay in the record after they are removed from the chat.
// written has those of the arguments that are such texts and values, with what stands for each.
func recorded(args []string, written map[string]string) []string {
	var kept []string
	hide := false
	for _, arg := range args {
		if instead, isWritten := written[arg]; isWritten {
			arg = instead
		}
		name, _, valued := strings.Cut(arg, "=")
		secret := name == "--text" || name == "--add" || name == "--sub" || strings.HasPrefix(name, "--set")
		switch {
		case hide:
			arg, hide = "…", false
		case secret && valued:
			arg = name + "=…"
		case secret:
			hide = true
		}
		kept = append(kept, arg)
	}
	return kept
}

// groups are things by a key, in the order in which the keys came.
type groups[K comparable, V any] struct {
	keys []K
	of   map[K][]V
}

func (g *groups[K, V]) add(key K, value V) {
	if g.of == nil {
		g.of = map[K][]V{}
	}
	if g.of[key] == nil {
		g.keys = append(g.keys, key)
	}
	g.of[key] = append(g.of[key], value)
}
