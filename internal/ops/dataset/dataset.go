// Package dataset writes chats as data for other programs, a JSON document a line: chats as
// lists of turns, as models are trained on them, or messages as rows of a table.
package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/message"
)

// Format is how lines look.
type Format string

// The formats.
const (
	OpenAI   Format = "openai"   // a chat a line, as chat completion APIs take messages
	ShareGPT Format = "sharegpt" // a chat a line: from and value
	Rows     Format = "rows"     // a message a line
)

// Options says what is written, and where.
type Options struct {
	ops.Export // with Swipes, rows have a line a swipe
	Format     Format
	System     string // goes first; "": nothing
	Reasoning  bool   // also the reasoning: as reasoning_content, in ShareGPT in <think> before the text
	Macros     bool   // names become {{user}} and {{char}}
	Leaves     bool   // leave out chats that are the beginning of another
}

// Document says what became of one chat.
type Document struct {
	Schema   int     `json:"schema"`
	Path     string  `json:"path" is:"path"`
	Format   Format  `json:"format"`
	Output   *string `json:"output" is:"path"` // null: standard output, or there is no line
	Lines    int     `json:"lines"`
	Messages int     `json:"messages"`
	LeftOut  int     `json:"left_out"` // messages that were chosen, and are not for this format
	ops.Warned
	ops.Written // of the file, which may have other chats, too

	Begins   string `json:"-"` // the chat of which it is the beginning, and that is written instead
	Repeated int    `json:"-"` // messages that another chat has, too
	Bad      int    `json:"-"` // texts in which something was no UTF-8
}

// valid returns a text without what is not UTF-8, which is counted.
func (d *Document) valid(s *string) *string {
	if s == nil || utf8.ValidString(*s) {
		return s
	}
	d.Bad++
	return new(rawjson.WellFormed(*s))
}

// ErrNone means that there is no line, and no file.
var ErrNone = errors.New("no chat has a line for this format")

// exporter writes the chats of one call.
type exporter struct {
	*Options
	lib    *library.Library
	leaves map[string]leaf // by real path
}

// Result is what became of one chat.
type Result = ops.Result[Document]

// Export writes chats, and calls each for every one. The error is that of the output, of each,
// or that ctx ended.
func Export(ctx context.Context, opt Options, each func(*Result) error) error {
	e := &exporter{Options: &opt, lib: new(library.Library)}
	e.Open.Any = true
	e.Open.Groups = e.lib

	walked := ops.Walk(opt.List)
	for _, err := range walked.Errs {
		if err := each(&Result{Outcome: changeset.Outcome{Err: err}}); err != nil {
			return err
		}
	}

	if opt.Leaves {
		if err := e.findLeaves(ctx, walked.Chats); err != nil {
			return err
		}
	}

	opt.Expect(walked.Chats)
	opt.TellApart(walked.Chats)
	switch {
	case opt.Folder:
		return e.folder(ctx, walked.Chats, each)
	case opt.Output != "":
		return e.file(ctx, walked.Chats, each)
	}
	return e.together(ctx, walked.Chats, opt.Stdout, each)
}

// together writes the lines of all chats to w.
func (e *exporter) together(ctx context.Context, targets []ops.Target, w io.Writer, each func(*Result) error) error {
	lines := 0
	for _, t := range targets {
		f := e.survey(ctx, t.Path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if f.Err == nil && f.any {
			if err := e.lines(ctx, f, w); err != nil {
				return err // a part of it is there
			}
		}

		lines += f.Doc.Lines

		e.Meter.Done()
		f.Complete(f.Outcome, e.Changes.DryRun)
		if err := each(&f.Result); err != nil {
			return err
		}
	}

	if lines == 0 {
		return ErrNone
	}
	return nil
}

// file writes all chats to one file. The first that has lines bears its outcome.
func (e *exporter) file(ctx context.Context, targets []ops.Target, each func(*Result) error) error {
	var done []*Result
	o := ops.WriteOutput(ctx, e.output(e.Output), func(w io.Writer) error {
		return e.together(ctx, targets, w, func(r *Result) error {
			done = append(done, r)
			return nil
		})
	})

	told := false
	for _, r := range done {
		if o.Err == nil && r.Doc.Lines > 0 {
			r.Doc.Output = &e.Output
			r.Doc.Written = ops.WrittenBy(o)
			if !told {
				r.Outcome = o
				told = true
			}
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return o.Err
}

// folder writes each chat to a file of its own.
func (e *exporter) folder(ctx context.Context, targets []ops.Target, each func(*Result) error) error {
	var chats, files []*facts
	for _, t := range targets {
		f := e.survey(ctx, t.Path)
		chats = append(chats, f)
		if f.Err != nil || !f.any {
			f.Complete(f.Outcome, e.Changes.DryRun)
			e.Meter.Done()
			continue
		}
		var err error
		if f.output, err = e.FileOf(f.Doc.Path, f.owner, f.name, names.Extension); err != nil {
			return err
		}
		files = append(files, f)
	}

	ops.Each(ctx, e.Changes, files, func(f *facts) (*Result, changeset.Unit) {
		f.Doc.Output = &f.output
		return &f.Result, e.output(f.output).Unit(func(w io.Writer) error {
			defer e.Meter.Done()
			return e.lines(ctx, f, w)
		})
	})

	for _, f := range chats {
		if err := each(&f.Result); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// output returns a file that is written, whole or not at all.
func (e *exporter) output(path string) ops.Output {
	return ops.Output{Path: path, Folder: true, Lines: true, Force: e.Force, Own: isOurs, Changes: e.Changes}
}

// isOurs reports whether a file that begins with head is one of these, and may be replaced.
func isOurs(head []byte) bool {
	for _, begin := range [...]string{`{"messages":[`, `{"conversations":[`, `{"path":`} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	return len(head) == 0
}

// facts are what a first reading of a chat finds.
type facts struct {
	Result
	owner, name string
	kind        string
	mainChat    *string
	skip        int            // messages that are written with another chat
	characters  []string       // by appearance
	macros      []substitution // the longest first
	any         bool           // there is a line to write
	output      string         // its file below a folder
}

// survey reads a chat once, to know what there is to write.
func (e *exporter) survey(ctx context.Context, path string) *facts {
	f := &facts{}
	f.Doc = Document{Schema: 1, Path: path, Format: e.Format}
	f.Err = e.fill(ctx, f)
	return f
}

// fill fills in what a chat says.
func (e *exporter) fill(ctx context.Context, f *facts) error {
	d := &f.Doc
	c, err := ops.Open(ctx, e.lib, d.Path, ops.Anything, e.Open)
	if err != nil {
		return err
	}
	f.owner = c.Owner
	f.name = c.Name
	f.kind = string(c.Kind)
	f.mainChat = d.valid(rawjson.TextOrNil(c.Metadata().Value("main_chat")))
	c.Close()

	l := e.leaves[d.Path]
	d.Begins = l.begins
	if d.Begins != "" {
		return nil
	}
	if e.Format == Rows {
		f.skip = l.shared
	} else {
		d.Repeated = l.shared
	}
	return e.count(ctx, f)
}

// count counts the messages that there are to write, and collects who speaks.
func (e *exporter) count(ctx context.Context, f *facts) error {
	d := &f.Doc
	exported := 0
	var users []string
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}

	each := func(m *look.Message) error {
		role, ok := e.exports(f, m)
		if !ok {
			d.LeftOut++
			return nil
		}
		exported++
		switch role {
		case "user":
			add(&users, ops.Or(m.Name, ""))
		case "assistant":
			add(&f.characters, ops.Or(m.Name, ""))
		}
		return nil
	}

	onlyCounted := e.Format == Rows && f.skip == 0 && !e.Macros // each is a row, whoever speaks
	if onlyCounted {
		each = nil
	}
	opt := look.Exported(&e.Export, d.Path)
	opt.NoTexts = true
	opt.SwipeTexts = false
	seen, err := look.Messages(ctx, opt, each)
	if err != nil {
		return err
	}
	if onlyCounted {
		exported = seen.Chosen
	}

	if seen.Clipped {
		f.Tell(ops.Fact{Kind: ops.FactClipped, Path: d.Path, Count: seen.Total - 1})
	}
	f.Warnings = ops.Damaged(d.Path, seen.Skipped)
	if e.Macros {
		f.macros = substitutions(users, f.characters, f.kind == "group")
	}
	f.any = exported > 0
	if e.Format != Rows {
		f.any = len(users) > 0 && len(f.characters) > 0
	}
	if f.any {
		d.Messages = exported
	}
	return nil
}

// exports returns whose turn a message is, and whether it is exported: as a turn only if it says
// something.
func (e *exporter) exports(f *facts, m *look.Message) (role string, ok bool) {
	if m.Index != nil && *m.Index < f.skip {
		return "", false
	}
	role = e.role(m)
	if e.Format == Rows {
		return role, true
	}
	return role, role != "" && !isBlank(m.Raw.Text)
}

// isBlank reports whether a raw mes has no text, or nothing but white space.
func isBlank(mes []byte) bool {
	text, _ := rawjson.Unquote(mes)
	return strings.TrimSpace(text) == ""
}

// role returns whose turn a message is: "system", "user" or "assistant", and "" for one that is
// nobody's. Only rows have that, too.
func (e *exporter) role(m *look.Message) string {
	isLeftOut := e.Format != Rows && m.Hidden && !e.WithHidden
	if isLeftOut || look.IsAside(m.Raw.Extra) {
		return ""
	}
	switch message.Who(m.Role) {
	case message.User:
		return "user"
	case message.Character:
		return "assistant"
	case message.Narrator:
		return "system"
	case message.System:
		if m.Hidden { // written under the system's name, and no notice of the program's
			return "system"
		}
	}
	return ""
}

// leaf says which of a chat's messages other chats have.
type leaf struct {
	begins string // the chat of which all of it is the beginning
	shared int    // how many of its first messages are in a chat that comes before
}

// findLeaves finds, of each owner, chats that are the beginning of another, and how much of the
// others is in one that comes before: by the date of its first own message, then by name.
func (e *exporter) findLeaves(ctx context.Context, targets []ops.Target) error {
	e.leaves = map[string]leaf{}
	var folders []string
	wanted := map[string]string{} // by cleaned path
	for _, t := range targets {
		wanted[filepath.Clean(t.Path)] = t.Path
		if dir := filepath.Dir(t.Path); !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}

	graphs, err := family.Read(ctx, e.lib, folders, family.Options{})
	if err != nil {
		return ops.PathError(err)
	}
	for _, g := range graphs {
		byOwner := map[string][]*family.Chat{} // of group chats the first group that lists them
		for _, c := range g.Chats {
			_, isWanted := wanted[filepath.Clean(c.Path)]
			isRefused := c.Err != nil || c.Damaged > 0 && !e.SkipDamaged // and has nothing for others
			if !isWanted || isRefused {
				continue
			}
			owner := ""
			if len(c.Groups) > 0 {
				owner = c.Groups[0]
			}
			byOwner[owner] = append(byOwner[owner], c)
		}

		for _, chats := range byOwner {
			slices.SortFunc(chats, func(a, b *family.Chat) int { return strings.Compare(a.Name, b.Name) })
			for c, l := range shares(chats) {
				e.leaves[wanted[filepath.Clean(c.Path)]] = l
			}
		}
	}
	return nil
}

// shares finds what chats, sorted by name, share from their beginnings. Sorted by their messages,
// those that begin alike stand together.
func shares(chats []*family.Chat) map[*family.Chat]leaf {
	sorted := slices.DeleteFunc(slices.Clone(chats), func(c *family.Chat) bool { return len(c.Messages) == 0 })
	slices.Reverse(sorted) // of equal ones the first by name comes last, and stays
	slices.SortStableFunc(sorted, func(a, b *family.Chat) int {
		return slices.CompareFunc(a.Messages, b.Messages, func(x, y family.Message) int { return bytes.Compare(x.ID[:], y.ID[:]) })
	})

	result := map[*family.Chat]leaf{}
	var left []*family.Chat // that are the beginning of no other
	var alike []int         // how many messages each of these has in common with the one before it
	for _, c := range slices.Backward(sorted) {
		shared := 0
		if len(left) > 0 {
			shared = common(c, left[len(left)-1])
		}
		if longer := goesOn(c, left, alike, shared); longer != "" {
			result[c] = leaf{begins: longer}
			continue
		}
		left = append(left, c)
		alike = append(alike, shared)
	}

	alike = append(alike, 0) // nothing is behind the last one

	order := make([]int, len(left))
	for i := range order {
		order[i] = i
	}
	own := func(i int) int64 { return left[i].Messages[max(alike[i], alike[i+1])].Date }
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(family.CompareDates(own(a), own(b)), strings.Compare(left[a].Name, left[b].Name))
	})

	written := make([]bool, len(left))
	for _, i := range order {
		result[left[i]] = leaf{shared: sharedWithWritten(i, alike, written)}
		written[i] = true
	}
	return result
}

// goesOn returns the first by name of the chats before c that begin with all of c, "" if none does.
// shared is how many messages c and the last of them have in common.
func goesOn(c *family.Chat, before []*family.Chat, alike []int, shared int) string {
	first := ""
	for k := len(before) - 1; shared == len(c.Messages); k-- {
		if first == "" || before[k].Name < first {
			first = before[k].Name
		}
		shared = min(shared, alike[k])
	}
	return first
}

// sharedWithWritten returns how many messages the chat i has in common with the nearest one on either
// side that is written already.
func sharedWithWritten(i int, alike []int, written []bool) int {
	shared := 0
	n := alike[i] // in common with the chat k
	for k := i - 1; n > 0; k-- {
		if written[k] {
			shared = n
			break
		}
		n = min(n, alike[k])
	}

	n = alike[i+1]
	for k := i + 1; n > shared; k++ {
		if written[k] {
			return n
		}
		n = min(n, alike[k+1])
	}
	return shared
}

// common returns how many messages two chats have in common from their beginning.
func common(a, b *family.Chat) (n int) {
	for n < min(len(a.Messages), len(b.Messages)) && a.Messages[n].ID == b.Messages[n].ID {
		n++
	}
	return n
}
