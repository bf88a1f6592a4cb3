package cut

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/text/progress"
)

// plan is what is settled about a source before any source is worked on.
type plan struct {
	source string
	opened safefile.Stamp // the source when it was first opened; zero: it was not
	last   lastMessage
	chatPath

	part         *stretch // what of the source the new chat gets; nil: all up to the last message
	previousLast int      // the last message that an earlier try found; -1: there was none
	listing      string   // the group file to add the new name to, or ""
	clones       []*clone // of its lorebooks
	drafted      drafted
	res          *Result
}

func newPlan(opt *Options, source string) *plan {
	p := &plan{source: source, res: new(Result)}
	p.begin(opt, -1)
	return p
}

// begin forgets what was found out about a source, but for its last message.
func (p *plan) begin(opt *Options, previousLast int) {
	*p.res = Result{Doc: Document{Schema: 1, Source: p.source, Made: Made{Kind: opt.Kind.String(), DryRun: opt.Changes.DryRun, At: opt.At}}}
	*p = plan{source: p.source, res: p.res, last: lastMessage{index: -1}, previousLast: previousLast, drafted: drafted{at: -1}}
}

// drafted is what drafting found out and is needed later.
type drafted struct {
	bookless bool                            // a clone was asked for, but the chat names no lorebook that exists
	at       int                             // the index of the last message; -1: not known
	moved    bool                            // the last message is not the one found before
	linkedIn string                          // the real path of the source that links to the new chat
	replaced string                          // the checkpoint that the message was linked to before
	stream   func(ctx context.Context) error // writes the chat to standard output
}

// chatPath is where a new chat goes.
type chatPath struct {
	name   names.Name
	path   string // Stdout for standard output
	beside bool   // it is in the source's folder
}

// lastMessage is what is known beforehand of the last message.
type lastMessage struct {
	index  int  // -1: not known
	whole  bool // the whole chat was read to find it
	damage jsonl.Damages
}

// planAll settles the names of the new chats in the order of the sources, so that they do not
// depend on which source is done first.
func planAll(ctx context.Context, c *call, plans []*plan) {
	for _, p := range plans {
		if c.opt.AtName != "" {
			p.last, p.res.Err = findNamed(ctx, c.opt, p.source)
		}
	}
	if !c.opt.AtOne.All() || c.opt.nameNeedsIndex() {
		progress.Each(ctx, len(plans), func(k int) {
			if r := plans[k].res; r.Err == nil {
				r.Err = findIndex(ctx, c, plans[k])
			}
		})
	}
	for _, p := range plans {
		if p.res.Err == nil {
			p.res.Err = resolveNames(ctx, c, p)
		}
	}
}

// resolveNames gives one source the names of what is made.
func resolveNames(ctx context.Context, c *call, p *plan) error {
	r := p.res
	if err := expect(c, p.source); err != nil {
		return err
	}
	groups := groupsOf(c, p.source)
	var err error
	if c.opt.Output != "" {
		p.chatPath, err = outputPath(c, p.source, r)
	} else {
		p.chatPath, err = pathBeside(ctx, c, p, groups, r)
	}
	if err != nil || r.Doc.Existed {
		return err
	}
	r.Doc.Path = p.path
	if p.name.File != "" && p.path != Stdout {
		r.Doc.Name = &p.name.File
	}
	if p.beside && len(groups) > 0 {
		p.listing = groups[0].Path
	}
	if c.opt.clones() {
		p.clones, err = nameClones(ctx, c, p, r)
	}
	return err
}

// expect refuses what cannot be a source, and adds its size to the progress.
func expect(c *call, source string) error {
	if source == chat.Stdin || c.opt.Content != nil {
		return nil
	}
	f, was, err := chat.OpenStamped(source)
	if err != nil {
		return ops.PathError(err)
	}
	c.opt.Meter.Expect(1, was.Size())
	return f.Close()
}

// sameFolder reports whether two paths lead to one folder. A missing folder is not an error
// here: creating a file in it will report that.
func sameFolder(a, b string) (bool, error) {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	if err := errors.Join(aerr, berr); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	return os.SameFile(ai, bi), nil
}

// namesGiven holds the names that are in folders and groups, including those that this call
// adds.
type namesGiven struct {
	folders map[string]*folder
	inGroup map[*group.File]map[string]bool // folded names of its chats
	ids     []sourceID
}

// folder is what is known of the names in a folder.
type folder struct {
	taken map[string]bool // folded names of its chats, including those to be made
	given map[string]bool // those to be made
	chats int
}

// sourceID tells whether another path is the same source.
type sourceID struct {
	folded string // its real path
	info   fs.FileInfo
}

// outputPath uses the path that was asked for.
func outputPath(c *call, source string, r *Result) (chatPath, error) {
	out := c.opt.Output
	if out == Stdout {
		return chatPath{path: out, name: names.Name{File: c.opt.Name, Label: c.opt.Name}}, nil
	}
	if err := ops.JudgeOutput(out, true); err != nil {
		return chatPath{}, err
	}
	name := userdir.ChatName(out)
	p := chatPath{path: out, name: names.Name{File: name, Label: cmp.Or(c.opt.Name, name)}}
	if base := filepath.Base(out); !names.Safe(base) {
		r.Warn("%s: SillyTavern cannot open a chat of this name: it removes some characters first", out)
	} else if len(base) > names.MaxFile {
		r.Warn("%s: SillyTavern can read a chat of so long a name, but not save it", out)
	}
	if source == chat.Stdin {
		return p, nil
	}
	if err := refuseSource(c, out); err != nil {
		return p, err
	}
	var err error
	p.beside, err = sameFolder(filepath.Dir(source), filepath.Dir(out))
	return p, ops.PathError(err)
}

// pathBeside derives the name and puts the new chat beside its source (SPEC.md 2.1).
func pathBeside(ctx context.Context, c *call, p *plan, groups []*group.File, r *Result) (chatPath, error) {
	if err := chat.CheckName(p.source); err != nil {
		return chatPath{}, err
	}
	f, err := c.names.folder(filepath.Dir(p.source))
	if err != nil {
		return chatPath{}, ops.PathError(err)
	}
	made, err := names.Make(nameRequest(c, p, f, groups))
	prefix, _ := filepath.Split(p.source)
	to := chatPath{name: made, path: prefix + made.File + names.Extension, beside: true}
	if err := ops.JudgeChatPlace(to.path); err != nil {
		return to, err
	}
	folded := names.Fold(made.File)
	taken := errors.Is(err, names.ErrTaken)
	replaces := taken && c.opt.Force && called(made.File, to.path, groups)
	switch {
	case taken && f.given[folded]:
		return to, fmt.Errorf("%s: %q: %w", p.source, made.File, ErrGivenTwice)
	case taken && c.opt.IfMissing:
		return to, adopt(ctx, c, p.source, to, r)
	case err != nil && !replaces:
		return to, fmt.Errorf("%s: %w", p.source, err)
	case replaces: // a free name cannot be a source's
		if err := refuseSource(c, to.path); err != nil {
			return to, err
		}
	}
	f.taken[folded], f.given[folded] = true, true
	f.chats++
	switch given := c.opt.Name; {
	case given != "" && made.Label != given:
		r.Warn("%s: no file can have this name, so it is changed: %s → %s", p.source, given, made.Label)
	case made.Shortened:
		r.Warn("%s: SillyTavern could not save a longer name, so the source's part in it is shortened: %s", p.source, made.File)
	}
	return to, nil
}

// nameRequest returns the facts that the name is made from.
func nameRequest(c *call, p *plan, f *folder, groups []*group.File) names.Request {
	r := names.Request{
		Kind: c.opt.Kind, Style: c.opt.Style, Chat: userdir.ChatName(p.source), Name: c.opt.Name,
		At: p.last.index, Now: c.opt.Changes.Now, Chats: f.chats,
		Taken: func(name string) bool {
			folded := names.Fold(name)
			return f.taken[folded] || slices.ContainsFunc(groups, func(g *group.File) bool { return c.names.listed(g)[folded] })
		},
	}
	if r.At < 0 {
		r.At = c.opt.At
	}
	if len(groups) > 0 {
		r.Chats = len(groups[0].Chats) // the new name is added to this one
	}
	if len(c.library.Folder(filepath.Dir(p.source)).Sidecars(r.Chat)) > 0 {
		r.Max = names.MaxLuker
	}
	return r
}

// adopt accepts an existing chat of the name as done, if it was made from this source.
func adopt(ctx context.Context, c *call, source string, to chatPath, r *Result) error {
	made, err := c.openMade(ctx, to.path, userdir.ChatName(source))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %q: %w", source, to.name.File, names.ErrTaken) // by the group's list, or in another letter case
	}
	if err != nil {
		return err
	}
	defer made.Close()
	all, err := jsonl.Copy(ctx, nil, made.Source, jsonl.CopyOptions{From: made.Body, Line: made.BodyLine, Limit: -1, Skip: true})
	if err != nil {
		return made.Errorf("%w", err)
	}
	md, d := made.Metadata(), &r.Doc
	d.Existed, d.Path, d.Name = true, to.path, &to.name.File
	d.At, d.Messages, d.Bytes = all.Lines-1, all.Lines, made.Source.Size
	d.MainChat, d.Integrity = rawjson.TextOrNil(md.Value(keyMainChat)), rawjson.TextOrNil(md.Value(keyIntegrity))
	return nil
}

// called reports whether a chat of exactly this name exists or is listed by a group. One that
// differs in letter case is another chat, and a disk that ignores case could not hold both.
func called(name, path string, groups []*group.File) bool {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return true // other errors count too: taking the name will hit and report them
	}
	return slices.ContainsFunc(groups, func(g *group.File) bool { return slices.Contains(g.Chats, name) })
}

// folder reads the names in a folder, once per call by whatever path it is reached.
func (n *namesGiven) folder(dir string) (*folder, error) {
	if f := n.folders[dir]; f != nil {
		return f, nil
	}
	real := userdir.RealPath(dir)
	f := n.folders[real]
	if f == nil {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		f = &folder{taken: map[string]bool{}, given: map[string]bool{}}
		for _, e := range entries {
			// on a disk that ignores letter case, X.JSONL takes the name of X.jsonl
			if stem := len(e.Name()) - len(names.Extension); stem >= 0 && strings.EqualFold(e.Name()[stem:], names.Extension) {
				f.taken[names.Fold(e.Name()[:stem])] = true
				f.chats++
			}
		}
	}
	n.folders[dir], n.folders[real] = f, f
	return f, nil
}

// listed returns the folded names of a group's chats.
func (n *namesGiven) listed(g *group.File) map[string]bool {
	all := n.inGroup[g]
	if all == nil {
		all = make(map[string]bool, len(g.Chats))
		for _, name := range g.Chats {
			all[names.Fold(name)] = true
		}
		n.inGroup[g] = all
	}
	return all
}

// groupsOf returns the groups that list a source.
func groupsOf(c *call, source string) []*group.File {
	if kind, _ := userdir.KindOf(source); source == chat.Stdin || kind != userdir.Group {
		return nil
	}
	dir, ok := userdir.Find(source)
	if c.opt.Data != "" {
		var err error
		if dir, err = userdir.Open(c.opt.Data); err != nil {
			return nil // opening the chat reports it
		}
	} else if !ok {
		return nil
	}
	set, err := c.library.Groups(dir)
	if err != nil {
		return nil // as above
	}
	return set.Listing(userdir.ChatName(source))
}

// refuseSource refuses a path that leads to one of the sources, by whatever path, link or
// letter case.
func refuseSource(c *call, path string) error {
	n := c.names
	if n.ids == nil {
		n.ids = make([]sourceID, len(c.opt.Sources))
		for i, source := range c.opt.Sources {
			if source != chat.Stdin {
				info, _ := os.Stat(source)
				n.ids[i] = sourceID{names.Fold(userdir.RealPath(source)), info}
			}
		}
	}
	info, _ := os.Stat(path)
	folded := names.Fold(userdir.RealPath(path))
	for i, source := range n.ids {
		if source.folded == folded || info != nil && source.info != nil && os.SameFile(source.info, info) {
			return fmt.Errorf("%s: the output is the source %s itself; choose another name", path, c.opt.Sources[i])
		}
	}
	return nil
}
