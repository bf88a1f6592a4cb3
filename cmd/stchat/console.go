package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/itchyny/gojq"
	"golang.org/x/term"

	"stchat/internal/change/changeset"
	"stchat/internal/json/jsondoc"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
	"stchat/internal/text/visible"
)

// The codes of the colours in use, for paint.
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	cyan    = "36"
	magenta = "35"
	bold    = "1"
	dim     = "2"
)

// console is what all commands share: the world around them, and where results and remarks go.
type console struct {
	env
	globals
	args      []string // of the program
	started   string   // the command whose RunE was called
	insteadOf string   // what runs in place of a word of other programs; "": none
	work      work
	w         *bufio.Writer // results go through it to Out; see [console.printed]
	docErr    error         // of the first document that could not be printed
	docs      jsondoc.Encoder
	erred     bool      // an error was told, and the command went on
	words     *editDone // how an edit says what it did; nil: as its command is called
	wrote     bool      // files are changed, so that an error in printing is not the whole answer

	dryRun bool // files are left alone: only say what would change
	yes    bool // do not ask

	undoMost int64 // how many bytes undo may keep; 0: as many as by default, below 0: none

	// known once a command's flags are read
	outColor, errColor bool
	jq                 func(doc any) gojq.Iter // what is printed instead of them; nil: they are
	shown              bool                    // the results are for a person: on a terminal, or with --color always through a pager

	means   *subjects         // what the command's arguments mean; nil: it finds out itself
	written map[string]string // those that are texts to write, with what is recorded of each
	unknown map[string]error  // of arguments that name nothing, to be said where they fail as paths

	mu     sync.Mutex
	redraw func() // clears the progress line; nil if there is none
}

func newConsole(e env, args []string) *console {
	c := &console{env: e, args: args, unknown: map[string]error{}, written: map[string]string{}}
	c.w = bufio.NewWriterSize(standardOutput{c}, 64<<10)
	return c
}

// standardOutput is Out as it is at the time: a pager or jq may take its place.
type standardOutput struct{ c *console }

// Write implements io.Writer.
func (s standardOutput) Write(p []byte) (int, error) { return s.c.Out.Write(p) }

// printed flushes what was printed, and returns the first error. Nothing more is printed after it,
// and it ends the command: so only who may print for long needs to ask.
func (c *console) printed() error { return cmp.Or(c.docErr, c.w.Flush()) }

// flush lets what was printed be seen before what is said next on stderr.
func (c *console) flush() { _ = c.printed() }

// document prints a JSON document, or what the program of --jq makes of it: an error of that ends the
// command where it asks [console.printed].
func (c *console) document(doc any) error {
	if c.jq == nil {
		c.docErr = cmp.Or(c.docErr, c.docs.Write(c.w, doc, ""))
		return c.docErr
	}
	if c.docErr == nil {
		c.docErr = c.printThroughJQ(doc)
	}
	_, err := c.w.Write(nil) // the error of what was written
	return err
}

// number returns a number with commas where a person reads it.
func (c *console) number(n int) string {
	if c.shown {
		return plural.Grouped(n)
	}
	return strconv.Itoa(n)
}

// many counts things, with commas where a person reads it.
func (c *console) many(n int, one string) string {
	if c.shown {
		return plural.Many(n, one)
	}
	return plural.S(n, one)
}

// row prints cells for a pipe.
func (c *console) row(cells ...string) { fmt.Fprintln(c.w, strings.Join(cells, "\t")) }

// paint colours s, which must already be escaped for a terminal.
func paint(on bool, code, s string) string {
	if !on || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// note prints on stderr what is neither result nor error.
func (c *console) note(format string, args ...any) {
	if !c.quiet {
		c.errLine("", "", fmt.Sprintf(format, args...))
	}
}

// warn prints what the user should know before relying on the result.
func (c *console) warn(format string, args ...any) {
	if !c.quiet {
		c.errLine(yellow, "warning:", fmt.Sprintf(format, args...))
	}
}

// notes prints several notes.
func (c *console) notes(list []string) {
	for _, text := range list {
		c.note("%s", text)
	}
}

// warns prints several warnings.
func (c *console) warns(list []string) {
	for _, text := range list {
		c.warn("%s", text)
	}
}

// fail prints an error; the command goes on. An interruption is only noted, to be
// printed once at the end.
func (c *console) fail(err error) {
	c.erred = true
	if isInterrupted(err) {
		c.work.interrupted = true
		return
	}
	c.errLine(red, "", errorText(c.meant("", err)))
}

// meant returns the error of an argument that names nothing where it has failed as a path, else err.
func (c *console) meant(path string, err error) error {
	for arg, none := range c.unknown {
		if path == arg && !isInterrupted(err) || errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(err.Error(), arg+": ") {
			return none
		}
	}
	return err
}

// counted prints the error of one of several sources, and counts it.
func (c *console) counted(err error) {
	c.fail(err)
	if isInterrupted(err) {
		c.work.left++
	} else {
		c.work.done++
	}
}

// failed is counted, with a document where documents are wanted.
func (c *console) failed(path string, err error) {
	c.counted(c.meant(path, err))
	if c.json {
		c.document(c.documentOf(path, err))
	}
}

// failedAll prints the errors of several sources.
func failedAll[E error](c *console, errs []E) {
	for _, err := range errs {
		c.failed("", err)
	}
}

// unprinted is [console.printed] at the end of a command: if it has changed files, the error says
// so, and a closed pipe is none.
func (c *console) unprinted() error {
	err := c.printed()
	if err == nil || !c.wrote {
		return err
	}
	c.w.Reset(io.Discard)
	c.docErr, c.jq = nil, nil
	if isClosedPipe(err) {
		return nil
	}
	return fmt.Errorf("%w; what the command was to do is done all the same", err)
}

// errLine prints an error, a warning or a note, on one line where no person reads it, whatever its
// text contains.
func (c *console) errLine(color, kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.redraw != nil {
		c.redraw()
	}
	before, head := "stchat:", paint(c.errColor && kind == "", color, "stchat:")
	if kind != "" {
		before += "\u00a0" + kind // no line breaks there
		head += " " + paint(c.errColor, color, kind)
	}
	fmt.Fprintln(c.Err, head+strings.TrimPrefix(c.remark(before+" "+visible.Text(text)), before))
}

// remark returns what is said on stderr, on a terminal in lines that fit.
func (e *env) remark(text string) string {
	if !e.ErrTTY || e.Width == 0 {
		return text
	}
	if !isUTF8(*e) {
		text = cutMarks().ReplaceAllStringFunc(strings.ReplaceAll(text, " → ", " -> "), visible.ASCII) // other signs may belong to names
	}
	return prosed(text, e.Width, "  ")
}

// line prints text to stdout, on a terminal with hidden characters as escapes.
func (c *console) line(text string) {
	if c.OutTTY {
		text = visible.Lines(text)
	}
	fmt.Fprintln(c.w, text)
	c.flush()
}

// text returns where a verb writes text from chats: stdout, on a terminal with hidden characters as
// escapes.
func (c *console) text() io.Writer {
	if c.OutTTY {
		return visible.Writer(c.w)
	}
	return c.w
}

// refuseTerminal refuses to write a file, byte for byte, to a terminal: what is in it could drive it.
// output is what -o names.
func (c *console) refuseTerminal(output string) error {
	if output == cut.Stdout && c.OutTTY {
		return usagef("-o - is for a pipe, not for a terminal: name a file, e.g. -o chat.jsonl")
	}
	return nil
}

// made prints the path of what was made, unless documents are printed.
func (c *console) made(path string) {
	if !c.json {
		fmt.Fprintln(c.w, c.path(path))
		c.flush()
	}
}

// path returns a path as it is printed to stdout: on a terminal quoted if it needs
// that, in a pipe as it is.
func (c *console) path(p string) string {
	if c.OutTTY {
		return visible.Quote(p)
	}
	return p
}

// closeTabs tells the user, once per command that edited a chat, a card or a group in place,
// to reload it: SillyTavern keeps them in memory and writes them back whole. chats are the
// chats that were edited; none if only a card or a group was, which has no slug to renew. A tab of Luker
// is not stopped by a new slug: it fetches the chat and writes its own messages over it.
func (c *console) closeTabs(bumped bool, chats ...string) {
	if len(chats) == 0 {
		c.note("reload SillyTavern now, or its next save undoes this")
		return
	}
	if areSeveral(chats) {
		c.reload(bumped, chats, "these chats in SillyTavern", " now, or their next save undoes this")
		return
	}
	c.reload(bumped, chats, "this chat in SillyTavern", " now, or its next save undoes this")
}

// areSeveral reports whether paths name more than one chat: one may be named by several.
func areSeveral(chats []string) bool {
	first := userdir.RealPath(chats[0])
	return slices.ContainsFunc(chats, func(path string) bool { return userdir.RealPath(path) != first })
}

// reload tells the user to reload chats, called which; otherwise says why, unless new slugs stop an open tab.
func (c *console) reload(bumped bool, chats []string, which, otherwise string) {
	switch {
	case c.lukersTabs(chats):
	case bumped:
		c.note("reload %s: an open tab can no longer save", which)
	default:
		c.note("reload %s%s", which, otherwise)
	}
}

// closeChangedTabs tells the user, once per undo or redo, to reload the chats that it changed.
func closeChangedTabs[D any](c *console, results []*ops.Result[D]) {
	var chats []string
	areSillyTaverns := false
	for _, r := range results {
		for _, s := range r.Steps {
			path := s.Path
			if s.Do == changeset.Move {
				path = s.To
			}
			kind := fileKind(path)
			if kind == "chat" {
				chats = append(chats, path)
			}
			areSillyTaverns = areSillyTaverns || kind != "file"
		}
	}

	if !areSillyTaverns { // such as a page
		return
	}
	c.closeTabs(false, chats...)
}

// closeLeftTabs tells the user, once per command that renamed, moved or deleted chats, to close them, and to
// reload those that were edited beside them: SillyTavern compares slugs only with a file that is there, so no
// slug stops the tab.
func (c *console) closeLeftTabs(how *saying) {
	which, remakes := "this chat", "its next save makes the old file anew"
	if how.left > 1 {
		which, remakes = "these chats", "their next saves make the old files anew"
	}
	areLukers := how.lukers || ops.AnyOfLuker(how.edited)
	areOthers := len(how.edited) > 0
	switch {
	case areLukers && areOthers:
		c.note("close %s in Luker now, and the others that changed: their open tabs would undo this", which)
	case areLukers:
		c.note("close %s in Luker now, or %s", which, remakes)
	case areOthers && how.bumped:
		c.note("close %s in SillyTavern now, or %s; tabs of the others that changed can no longer save", which, remakes)
	case areOthers:
		c.note("close %s in SillyTavern now and reload the others that changed, or their next save undoes this", which)
	default:
		c.note("close %s in SillyTavern now, or %s", which, remakes)
	}
}

// lukersTabs tells the user that an open tab of Luker wins, if one of the chats is Luker's.
func (c *console) lukersTabs(chats []string) bool {
	if !ops.AnyOfLuker(chats) {
		return false
	}
	if areSeveral(chats) {
		c.note("close these chats in Luker first: their open tabs would write over this")
		return true
	}
	c.note("close this chat in Luker first: its open tab would write over this")
	return true
}

// leftOut warns of the damaged lines that were left out.
func (c *console) leftOut(path string, damage jsonl.Damages, wanted bool) {
	if wanted { // else the first of them is an error
		c.damaged(path, "left out", damage.First, damage.More())
	}
}

// damaged warns of damaged lines of a chat, and of how many more there are.
func (c *console) damaged(path, what string, first []jsonl.Damage, more int) {
	for _, d := range first {
		did := ops.BecameOf(d.Code == jsonl.BOM, what)
		c.warn("%s:%d:%d: %s: %s", chat.Label(path), d.Line, d.Column, did, d.Reason)
	}
	if more > 0 {
		c.warn("%s: %s %s", chat.Label(path), c.many(more, "more damaged line"), what)
	}
}

// meter makes a meter, which is drawn on stderr while work runs, and returns the function
// that stops drawing it. Nothing is drawn if stderr is no terminal, or with silent or
// --quiet.
func (c *console) meter(verb string, silent bool, to **progress.Meter) (end func()) {
	m := new(progress.Meter)
	*to = m
	if silent || c.quiet || !c.ErrTTY {
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	shown := false
	clear := func() {
		if shown {
			fmt.Fprint(c.Err, "\r\x1b[K")
			shown = false
		}
	}

	c.redraw = clear
	out := c.Out
	if c.OutTTY {
		c.Out = &aboveMeter{c, out}
	}
	began := time.Now()
	p := &pace{began: began, reached: []reached{{began, 0}}}
	go func() {
		defer close(gone)
		wait := time.NewTimer(progressAfter)
		defer wait.Stop()
		for {
			select {
			case <-done:
				return
			case <-wait.C:
				wait.Reset(progressEvery)
			}

			c.mu.Lock()
			clear()
			line := p.line(verb, m.State(), time.Now())
			if c.Width > 0 {
				line = visible.Truncate(line, c.Width-1, "") // in the last cell some terminals break the line
			}
			fmt.Fprint(c.Err, line)
			shown = true
			c.mu.Unlock()
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-gone
		c.mu.Lock()
		defer c.mu.Unlock()
		clear()
		c.redraw, c.Out = nil, out
	})
}

// aboveMeter is standard output on a terminal where a meter may be drawn: it is cleared first.
type aboveMeter struct {
	c *console
	io.Writer
}

// Write implements io.Writer.
func (w *aboveMeter) Write(p []byte) (int, error) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if w.c.redraw != nil {
		w.c.redraw()
	}
	return w.Writer.Write(p)
}

// ended prints what became of the changes that killed runs had begun.
func (c *console) ended(list []changeset.Ended) {
	for _, e := range list {
		what := "a run that was killed"
		if len(e.Command) > 0 {
			what = fmt.Sprintf("%q, which was killed,", commandText(e.Command))
		}
		files := strings.Join(e.Files, ", ")
		switch e.Result {
		case changeset.Forward:
			c.note("%s had begun to change %s; the change is now completed ('%s' takes it back)", what, files, c.undoCommand(e.Root, ""))
		case changeset.Back:
			text := fmt.Sprintf("%s had begun to change %s; the change is now taken back", what, files)
			if len(e.Left) == 0 {
				c.note("%s", text)
				continue
			}
			c.warn("%s but for %s: somebody has changed that since, and it stays", text, strings.Join(e.Left, ", "))
		case changeset.Pending:
			c.warn("%s left a change half done: %s; the next command that writes there ends it", what, files)
		case changeset.Stuck:
			if e.ID == "" {
				c.warn("cannot tell what a killed run left half done: %v", e.Err)
				continue
			}
			c.warn("%v", withHint(&changeset.StuckError{ID: e.ID, Err: e.Err}, nil))
		case changeset.Foreign:
			if !errors.Is(e.Err, changeset.ErrElsewhere) {
				c.warn("cannot tell what a killed run left half done: %v", withHint(e.Err, nil))
				continue
			}
			c.warn("%s: an unfinished change came along with this folder: %s; '%s' takes it back", e.Root, files, c.undoCommand(e.Root, "--force "+e.ID))
		}
	}
}

// ask asks a question that is answered with yes or no; asked is false where nobody can answer. The error is
// that ctx ended before there was an answer.
func (c *console) ask(ctx context.Context, question string) (yes, asked bool, err error) {
	if !c.InTTY || !c.ErrTTY {
		return false, false, nil
	}
	c.flush()
	if p, ok := c.Out.(*pager); ok {
		p.release() // it holds stderr back, and reads the keys
	}
	fmt.Fprintf(c.Err, "%s [y/N] ", question)
	answer, err := progress.Until(ctx, func() (string, error) {
		answer, _ := bufio.NewReader(c.In).ReadString('\n') // no answer is no
		return strings.ToLower(strings.TrimSpace(answer)), nil
	})
	if err != nil {
		fmt.Fprintln(c.Err) // the line that asks has no end
		return false, true, err
	}
	return answer == "y" || answer == "yes", true, nil
}

// asks reports whether a command asks before it does what is worth a second look.
func (c *console) asks() bool { return !c.yes && !c.dryRun }

// readsPlan reports whether a person sees what would be done before the question.
func (c *console) readsPlan() bool { return c.InTTY && c.ErrTTY && c.shown }

// confirm asks before something is done that is worth a second look; what says what that is. Without
// a terminal to ask on it is a usage error, unless --yes is given. A dry run never asks.
func (c *console) confirm(ctx context.Context, what string) error {
	if !c.asks() {
		return nil
	}
	yes, asked, err := c.ask(ctx, strings.ToUpper(what[:1])+what[1:]+"?")
	switch {
	case err != nil:
		c.work = work{} // what was only looked at
		return err
	case yes:
		return nil
	case asked:
		return errNo
	}
	return usagef("this would %s; -y does it without asking, --dry-run shows it", what)
}

// env is the outside world as the commands see it, built once in main.
type env struct {
	In       io.Reader
	Out, Err io.Writer
	InTTY    bool // In is a terminal
	OutTTY   bool // likewise
	ErrTTY   bool
	Width    int          // cells of the terminal; 0: no terminal
	Files    [2]*os.File  // standard output and error, which the pager gets
	Pager    string       // the command that pages; empty: none
	Paging   *atomic.Bool // a pager has the terminal
	Getenv   func(string) string
	Now      func() time.Time
}

func newEnv() env {
	e := env{
		In: os.Stdin, Out: stdout{os.Stdout}, Err: os.Stderr,
		InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Files:  [2]*os.File{os.Stdout, os.Stderr},
		Paging: new(atomic.Bool),
		Getenv: os.Getenv,
		Now:    time.Now,
	}

	if e.OutTTY { // else nothing is paged, and less need not be looked for
		e.Pager = pagerOf(os.LookupEnv)
	}
	for _, f := range []*os.File{os.Stderr, os.Stdout} { // into a pager, only stderr is a terminal
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			e.Width = width
		}
	}
	return e
}

// stdout is standard output, with errors that call it that: those of Go name /dev/stdout.
type stdout struct{ file *os.File }

// Write implements io.Writer.
func (s stdout) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("standard output: %w", pe.Err)
	}
	return n, err
}

// Progress appears once work has taken this long, and is drawn this often.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// count takes over how many files are done, and how many are left, from a meter.
func (w *work) count(m *progress.Meter) {
	s := m.State()
	w.done, w.left = int(s.Done), int(s.Files-s.Done)
}

// pace is how far work has got, and when, over the last pacePeriod.
type pace struct {
	began   time.Time
	reached []reached // oldest first
}

type reached struct {
	at   time.Time
	read int64
}

// pacePeriod is over what time the speed is taken, and how long one must run before it tells how
// long the rest takes.
const pacePeriod = 3 * time.Second

// line returns what is shown of the work: how far it is, how fast, and how long the rest takes.
func (p *pace) line(verb string, s progress.State, now time.Time) string {
	for len(p.reached) > 1 && now.Sub(p.reached[0].at) > pacePeriod {
		p.reached = p.reached[1:]
	}
	speed := 0.0 // bytes a second
	if len(p.reached) > 0 && now.After(p.reached[0].at) {
		speed = float64(s.Read-p.reached[0].read) / now.Sub(p.reached[0].at).Seconds()
	}
	p.reached = append(p.reached, reached{now, s.Read})
	parts := []string{verb}
	switch {
	case s.Bytes > 0:
		of, read := formatBytes(s.Bytes), formatBytes(min(s.Read, s.Bytes))
		number, unit, _ := strings.Cut(read, " ")
		if strings.HasSuffix(of, " "+unit) {
			read = number
		}
		parts = append(parts, fmt.Sprintf("%d %%", min(100, s.Read*100/s.Bytes)), read+" of "+of)
	case s.Files > 1:
		parts = append(parts, fmt.Sprintf("%s of %s", plural.Grouped(int(s.Done)), plural.Many(int(s.Files), "chat")))
	case s.Read > 0:
		parts = append(parts, formatBytes(s.Read))
	}

	if speed >= 1 {
		parts = append(parts, formatBytes(int64(speed))+"/s")
		if left := s.Bytes - s.Read; left > 0 && now.Sub(p.began) >= pacePeriod {
			parts = append(parts, leftText(time.Duration(float64(left)/speed*float64(time.Second)))+" left")
		}
	}
	return strings.Join(parts, "  ")
}

// leftText returns a time that work still takes.
func leftText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(1, int(d.Round(time.Second).Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// formatBytes returns a size for people: 1.2 MB, by powers of 1000.
func formatBytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for f >= 999.95 && unit < 5 {
		f /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %cB", f, " kMGTP"[unit])
}
