package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/ops/cut"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/keep"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// What a command that wrote says to a person: a block a chat. A pipe and documents get
// none of it.

// block is what a person reads of one chat that a command made or changed.
type block struct {
	sentence string
	facts    []fact
	made     string // the path of what is new; "": nothing is
}

// fact is something else that the command did.
type fact struct{ label, text string }

// factsShown is how many facts a person sees without --verbose.
const factsShown = 6

// tells reports whether a person reads blocks, in place of notes and rows.
func (c *console) tells() bool { return c.shown && !c.json }

// did returns what a command did, or what it would do where this is a dry run.
func (c *console) did(did, would string) string {
	if c.dryRun {
		return would
	}
	return did
}

// block prints a block.
func (c *console) block(b block) {
	if c.quiet {
		if b.made != "" {
			c.made(b.made)
		}
		return
	}

	c.title(b.sentence)
	facts := b.facts
	left := 0
	if len(facts) > factsShown && !c.verbose {
		left = len(facts) - factsShown
		facts = facts[:factsShown]
	}
	for _, f := range facts {
		c.fact(f)
	}
	if left > 0 {
		fmt.Fprintln(c.w, paint(c.outColor, dim, "  "+plural.Grouped(left)+" more (-v)"))
	}
	if b.made != "" {
		c.made(b.made)
	}
	c.flush()
}

// fact prints one fact below a block.
func (c *console) fact(f fact) {
	if c.quiet {
		return
	}
	const column = 17
	if isNarrow := c.proseWidth() < 3*column; isNarrow {
		text := f.text
		if f.label != "" {
			text = f.label + ": " + f.text
		}
		c.line(prosed("  "+visible.Text(text), c.proseWidth(), "    "))
		return
	}

	head := visible.Pad("  "+visible.Text(f.label), column-1) + " "
	text := prosed(visible.Text(f.text), max(c.proseWidth()-column, 20), "")
	for i, line := range strings.Split(text, "\n") {
		lead := paint(c.outColor, dim, head)
		if i > 0 {
			lead = strings.Repeat(" ", column)
		}
		fmt.Fprintln(c.w, lead+line)
	}

	c.flush()
}

// told prints a block that has no path; where no person reads blocks, with --verbose as notes.
func (c *console) told(b block) {
	if c.tells() {
		c.block(b)
		return
	}
	if !c.verbose {
		return
	}
	c.note("%s", b.sentence)
	for _, f := range b.facts {
		c.also(f)
	}
}

// noteFacts prints the facts of one thing as notes, where no person reads blocks.
func (c *console) noteFacts(of string, facts []fact) {
	for _, f := range facts {
		c.note("%s: %s: %s", of, f.label, f.text)
	}
}

// also prints one more fact; where no person reads blocks, with --verbose as a note.
func (c *console) also(f fact) {
	switch {
	case c.tells():
		c.fact(f)
	case c.verbose:
		c.note("%s: %s", f.label, f.text)
	}
}

// title prints a sentence that begins a block.
func (c *console) title(sentence string) {
	for line := range strings.SplitSeq(c.prose(visible.Text(sentence), ""), "\n") {
		fmt.Fprintln(c.w, paint(c.outColor, bold, line))
	}
	c.flush()
}

// nameOf returns the name of a chat as tables show it.
func nameOf(path string) string {
	if path == "-" {
		return "standard input"
	}
	return shortName(path)
}

// cutBlock tells of a checkpoint or a branch; label is the name that was given, "" for none.
func (c *console) cutBlock(r *cut.Result, label string, opt *cut.Options) block {
	d := &r.Doc
	source := nameOf(d.Source)
	label = cmp.Or(label, names.Short(filepath.Base(filepath.Dir(absolute(d.Path))), userdir.ChatName(d.Path), userdir.ChatName(d.Source)))
	made := map[string]string{"branch": "branched", "checkpoint": "made checkpoint"}[d.Kind]
	if d.DryRun {
		made = map[string]string{"branch": "would branch", "checkpoint": "would make checkpoint"}[d.Kind]
	}
	b := block{sentence: fmt.Sprintf("%s %q off %s at message %d: %s", made, label, source, d.At, plural.Many(d.Messages, "message"))}
	if d.Existed {
		b.sentence = fmt.Sprintf("%q of %s is there already", label, source)
	}
	if d.Path != "" && d.Path != cut.Stdout {
		b.made = d.Path
	}

	b.addClones(d)
	giveOwn := "--isolate gives the new one its own"
	if opt.Isolate { // and shares the lorebook all the same
		giveOwn = "--lorebook clone gives the new one its own"
	}
	b.facts = append(b.facts, factsOf(r.Facts, giveOwn)...)
	b.facts = append(b.facts, c.stateFacts(d.State, d.At)...)
	b.addLuker(d)
	if d.Linked {
		text := fmt.Sprintf("noted on message %d of %s", d.At, source)
		b.add("link", text)
	}
	if opt.Open && !d.Existed {
		b.addOpen(c, ownerShown(d.Path))
	}
	if lines, _ := d.LeftOut(); lines > 0 {
		b.add("left out", plural.Many(lines, "damaged line"))
	}
	return b
}

// addOpen says that the new chat is the one that its owner opens with now.
func (b *block) addOpen(c *console, owner string) {
	b.add("open", fmt.Sprintf("it %s the chat that %s opens with", c.did("is", "would be"), owner))
}

// ownerShown returns how a person knows whose a chat is.
func ownerShown(path string) string {
	kind, _ := userdir.KindOf(path)
	if kind == userdir.Group {
		return "the group"
	}
	return filepath.Base(filepath.Dir(absolute(path)))
}

func (b *block) add(label, text string) { b.facts = append(b.facts, fact{label, text}) }

// join adds a fact to that of the same label, if there is one.
func (b *block) join(label, text string) {
	for i := range b.facts {
		if b.facts[i].label == label {
			b.facts[i].text += "; " + text
			return
		}
	}
	b.add(label, text)
}

// addClones tells which lorebooks were cloned for a new chat.
func (b *block) addClones(d *cut.Document) {
	for _, book := range d.Lorebooks {
		if !book.Cloned {
			continue
		}
		text := fmt.Sprintf("its own, %q", book.Name)
		if book.Dropped > 0 {
			text += "; " + plural.Of(book.Dropped, "entry of an extension", "entries of an extension") + " left out"
		}
		b.add("lorebook", text)
	}
}

// addLuker tells what became of Luker's files beside a chat.
func (b *block) addLuker(d *cut.Document) {
	if len(d.Sidecars) > 0 {
		b.join("Luker", sidecarText(d))
	}
}

// sidecarText counts what became of a chat's sidecars.
func sidecarText(d *cut.Document) string {
	counts := map[string]int{}
	for _, s := range d.Sidecars {
		counts[s.Action]++
	}
	var parts []string
	ofBranches := []string{cut.SidecarCut, cut.SidecarFresh, cut.SidecarEmpty, cut.SidecarLeft}
	ofVersions := []string{keep.SidecarRestored, keep.SidecarRemoved}
	for _, action := range append(ofBranches, ofVersions...) {
		if n := counts[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", plural.Many(n, "file"), action))
		}
	}
	return strings.Join(parts, ", ")
}

// editDone is how a command that edits says what it did: to one chat, and what it would do.
type editDone struct {
	did, would, to string
	metadata       string // what of the metadata; "": all of it may be meant
}

// ofMetadata names what of the metadata changed.
func (w editDone) ofMetadata() string { return cmp.Or(w.metadata, "the metadata") }

// nothing returns how a chat is said to be unchanged, or several chats are.
func (w editDone) nothing(dryRun bool) string {
	switch {
	case w.did == "replaced" && dryRun:
		return "nothing to replace"
	case w.did == "replaced":
		return "nothing replaced"
	case dryRun:
		return "nothing would change"
	}
	return "nothing changed"
}

// editWords returns the words of the command that was called.
func (c *console) editWords() editDone {
	if c.words != nil {
		return *c.words
	}
	_, name, _ := strings.Cut(c.started, " ")
	switch name {
	case "add":
		return editDone{did: "added", would: "would add", to: "to"}
	case "delete":
		return editDone{did: "deleted", would: "would delete", to: "of"}
	case "hide":
		return editDone{did: "hid", would: "would hide", to: "of"}
	case "unhide":
		return editDone{did: "unhid", would: "would unhide", to: "of"}
	case "replace":
		return editDone{did: "replaced", would: "would replace", to: "of"}
	}
	return editDone{did: "changed", would: "would change", to: "of"}
}

// editBlock tells of one chat that was edited.
func (c *console) editBlock(r *edit.Result) block {
	d := &r.Doc
	words := c.editWords()
	did := words.did
	if c.dryRun {
		did = words.would
	}
	name := nameOf(d.Path)
	n := d.Edited()
	b := block{}
	switch {
	case d.Unchanged:
		b.sentence = name + " is unchanged"
		if words.did == "replaced" {
			b.sentence = words.nothing(c.dryRun) + " in " + name
		}
		b.facts = factsOf(r.Facts, "")
		return b
	case r.Places+r.Header > 0:
		b.sentence = fmt.Sprintf("%s %s of %s", did, placesText(r.Places, n, r.Header), name)
	case n == 0:
		b.sentence = fmt.Sprintf("%s %s of %s", did, words.ofMetadata(), name)
	case n == 1:
		index := slices.Concat(d.Added, d.Changed, d.Deleted)[0]
		b.sentence = fmt.Sprintf("%s message %d %s %s", did, index, words.to, name)
	default:
		b.sentence = fmt.Sprintf("%s %s %s %s", did, plural.Many(n, "message"), words.to, name)
	}

	if r.Swipe > 0 {
		b.add("swipe", plural.Grouped(r.Swipe))
	}
	last := 0
	if d.Messages != nil {
		last = *d.Messages - 1
	}
	b.facts = append(b.facts, c.stateFacts(d.State, last)...)
	b.facts = append(b.facts, factsOf(r.Facts, "")...)
	if len(d.Deleted) > 0 && !c.dryRun {
		b.add("undo", "brings it back")
	}
	return b
}

// placesText counts where a text was replaced: in messages, and in the header.
func placesText(places, messages, header int) string {
	var parts []string
	if messages > 0 {
		parts = append(parts, plural.Grouped(places)+" in "+plural.Many(messages, "message"))
	}
	if header > 0 {
		parts = append(parts, plural.Grouped(header)+" in the metadata")
	}
	return strings.Join(parts, " and ")
}

// manyEdited tells of several chats that were edited.
func (c *console) manyEdited(s *editSummary) string {
	words := c.editWords()
	did := words.did
	if c.dryRun {
		did = words.would
	}
	if s.passed > 0 && s.passed == s.Chats {
		return "no chat of " + plural.Grouped(s.Chats) + " meets --where"
	}
	if s.Changed == 0 {
		return words.nothing(c.dryRun) + " in " + plural.Many(s.Chats, "chat")
	}
	of := plural.Many(s.Changed, "chat")
	if s.Changed < s.Chats {
		of += " (of " + plural.Grouped(s.Chats) + ")"
	}
	if s.places+s.header > 0 {
		return fmt.Sprintf("%s %s of %s", did, placesText(s.places, s.messages, s.header), of)
	}
	if s.messages == 0 {
		return fmt.Sprintf("%s %s of %s", did, words.ofMetadata(), of)
	}
	return fmt.Sprintf("%s %s %s %s", did, plural.Many(s.messages, "message"), words.to, of)
}

// chatsShown is how many chats of many a person sees by name.
const chatsShown = 10

// mostEdited returns those of many results that changed most, and of how many more a person sees only the
// number.
func (c *console) mostEdited(results []*edit.Result) (most []*edit.Result, rest int) {
	for _, r := range results {
		if r.Err == nil && !r.Doc.Unchanged {
			most = append(most, r)
		}
	}
	slices.SortStableFunc(most, func(a, b *edit.Result) int { return cmp.Compare(b.Doc.Edited(), a.Doc.Edited()) })
	if len(most) > chatsShown && !c.verbose {
		rest = len(most) - chatsShown
		most = most[:chatsShown]
	}
	return most, rest
}

// chatRow is the path of one of many chats, and what was done to it.
type chatRow struct{ path, what string }

// editRow returns the row of one of many chats that were edited.
func editRow(r *edit.Result) chatRow {
	what := "metadata"
	n := r.Doc.Edited()
	if n > 0 {
		what = plural.Many(n, "message")
	}
	if r.Places+r.Header > 0 {
		what = placesText(r.Places, n, r.Header)
	}
	return chatRow{r.Doc.Path, what}
}

// rowName returns the name of a chat, cut so that what was done to it has room beside it.
func (c *console) rowName(row chatRow) string {
	width := max(cmp.Or(c.Width, unknownWidth)-visible.Width(row.what)-5, 10)
	return visible.CutRight(visible.Text(nameOf(row.path)), width, c.sign("…"))
}

// editRows tells of many chats that were edited: those that changed most.
func (c *console) editRows(results []*edit.Result) {
	most, rest := c.mostEdited(results)
	var rows []chatRow
	for _, r := range most {
		rows = append(rows, editRow(r))
	}
	c.chatRows(rows, rest)
}

// chatRows prints a line for each of many chats, and how many more there are.
func (c *console) chatRows(rows []chatRow, rest int) {
	column := 0
	for _, row := range rows {
		column = max(column, visible.Width(c.rowName(row)))
	}
	for _, row := range rows {
		fmt.Fprintln(c.w, "  "+visible.Pad(c.rowName(row), column)+"   "+row.what)
	}
	if rest > 0 {
		c.line("  and " + plural.Many(rest, "more chat"))
	}
}
