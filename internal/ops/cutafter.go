package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// groupCache reads the group files of a user folder once a call.
type groupCache struct {
	mu   sync.Mutex
	sets map[string]*group.Set
}

func newGroupCache() *groupCache { return &groupCache{sets: map[string]*group.Set{}} }

// In implements chat.Groups.
func (g *groupCache) In(dir userdir.Dir) (*group.Set, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if set := g.sets[dir.Root]; set != nil {
		return set, nil
	}
	set, err := group.LoadAll(dir.Groups())
	if err != nil {
		return nil, pathError(err)
	}
	g.sets[dir.Root] = set
	return set, nil
}

// planGroup settles which group file the new name goes to.
func (j *cutJob) planGroup() error {
	c := j.chat
	if c.Kind != userdir.Group || j.NoGroup || len(c.Groups) == 0 {
		return nil
	}
	if !j.beside {
		j.res.warn("%s: the new chat is not in the group's folder, so no group lists it", c.Label())
		return nil
	}
	g := c.Groups[0]
	if err := safefile.CanReplace(g.Path); err != nil {
		return fmt.Errorf("%w; with --no-group the group file is not touched", pathError(err))
	}
	if g.HasOldLayout() {
		// The new chat has a header, as SillyTavern 1.16 and later write it. Up to
		// 1.14 a group chat has none, and a page of 1.13 that opens a chat without
		// an entry in past_metadata takes it for a fresh one.
		j.res.warn("%s: this group has the layout of SillyTavern up to 1.14, and the new chat that of 1.16 and later: open it with 1.16 or later only", g.Path)
	}
	j.group = g.Path
	j.res.Group = &j.group
	return nil
}

// joinGroups appends the new names to their groups, each group file once.
func (c *cut) joinGroups() {
	byPath := map[string][]*cutJob{}
	var order []string
	for _, j := range c.jobs {
		if j.group == "" || !j.res.Written {
			continue
		}
		if byPath[j.group] == nil {
			order = append(order, j.group)
		}
		byPath[j.group] = append(byPath[j.group], j)
	}
	for _, path := range order {
		jobs := byPath[path]
		err := c.joinGroup(path, jobs)
		for _, j := range jobs {
			if err != nil && !unsynced(err) {
				j.fail(fmt.Errorf("%s: %w; %s is written but not in the group; to complete it: stchat repair --write --rule group-unlisted %s",
					path, err, j.target, visible.Quote(j.target)))
				continue
			}
			j.fail(err)
			j.res.InPlace = true
			j.res.would("add %q to the group file %s", j.name.File, path)
		}
	}
}

func (c *cut) joinGroup(path string, jobs []*cutJob) error {
	var chats []string
	for _, j := range jobs {
		chats = append(chats, j.name.File)
	}
	const tries = 20 // SillyTavern and other runs of stchat write it too
	for try := 1; ; try++ {
		// read again: it may have been written while the chats were copied
		g, err := group.Load(path)
		if err != nil {
			return err
		}
		data, err := g.WithChats(chats...)
		if err != nil || c.DryRun {
			return err
		}
		_, err = safefile.Rewrite(path, data, g.Stamp, safefile.Options{NoSync: c.NoSync})
		if !errors.Is(err, safefile.ErrChanged) || try == tries {
			return cause(err)
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
}

// cause takes the path off an error whose reader has just been told it.
func cause(err error) error {
	if unsynced(err) {
		return err // it says more than its cause does
	}
	if errors.Is(err, safefile.ErrChanged) {
		return safefile.ErrChanged
	}
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// planLink refuses a link that could not be made, before anything is written.
func (j *cutJob) planLink() error {
	if !j.Link {
		return nil
	}
	// a link is a name in the source's own folder, wherever a symlink to it lies
	beside, err := sameFolder(filepath.Dir(realPath(j.path)), filepath.Dir(j.target))
	if err != nil {
		return pathError(err)
	}
	if !j.beside || !beside {
		return j.chat.Errorf("--link needs the new chat beside its source")
	}
	if err := safefile.CanReplace(j.path); err != nil {
		return fmt.Errorf("%w; without --link the source is not touched", pathError(err))
	}
	switch {
	case j.BumpIntegrity && j.chat.Header == nil:
		return j.chat.Errorf("the chat has no header to hold a slug; leave --bump-integrity out")
	case (j.BumpIntegrity || j.luker.is) && j.chat.HeaderKind == chat.Damaged:
		return j.chat.Errorf("a new slug in the damaged header would lose what is left of it; mend the chat first, or leave --link out")
	}
	return nil
}

// mayLink makes the link, and refuses a message that cannot hold one, once it is
// known which one and before anything is published.
func (j *cutJob) mayLink() (err error) {
	if !j.Link {
		return nil
	}
	if j.link, err = j.linkFor(j.chat.Source, j); err != nil {
		return fmt.Errorf("%s:%d: message %d: %w; without --link the source is not touched", j.chat.Label(), j.last.Line, j.at, err)
	}
	return nil
}

// linkSources notes the new chats in their sources, each source once.
func (c *cut) linkSources(ctx context.Context) {
	if !c.Link {
		return
	}
	byPath := map[string][]*cutJob{}
	var order []string
	for _, j := range c.jobs {
		if !j.res.Written {
			continue
		}
		key := realPath(j.path)
		if byPath[key] == nil {
			order = append(order, key)
		}
		byPath[key] = append(byPath[key], j)
	}
	each(ctx, len(order), func(i int) {
		jobs := byPath[order[i]]
		err := c.linkSource(ctx, jobs)
		for _, j := range jobs {
			if err != nil {
				j.res.Linked = false
				j.fail(fmt.Errorf("%s: %w; %s is written but not noted in its source; to complete it: %s", j.path, err, j.target, j.completeLink()))
			}
		}
	})
}

// completeLink is the command that makes up for a link that failed: a checkpoint
// is made again as it is, since nothing else sets its link. Luker's sidecars of
// the new name are in the way of that, so there the chat is noted as a branch.
func (j *cutJob) completeLink() string {
	if j.Kind == names.Branch || j.luker.is {
		return "stchat repair --write --rule unlisted-branch " + visible.Quote(j.target)
	}
	args := []string{"checkpoint", j.path, "--at", strconv.Itoa(j.at), "--output", j.target, "--force", "--link"}
	switch {
	case j.Integrity == IntegrityKeep || j.Integrity == IntegrityNone:
		args = append(args, "--integrity", j.Integrity)
	case j.res.Integrity != nil:
		args = append(args, "--integrity", *j.res.Integrity)
	}
	var line strings.Builder
	line.WriteString("stchat")
	for _, arg := range append(args, j.Again...) {
		line.WriteString(" " + visible.Quote(arg))
	}
	return line.String()
}

// splice is a stretch of the source and what takes its place.
type splice struct {
	off, len int64
	data     []byte
}

// linkSource makes all the edits in one source in one replacement. Its error
// is that they were not made; what goes wrong after them stands in the results.
func (c *cut) linkSource(ctx context.Context, jobs []*cutJob) error {
	first := jobs[0]
	source, err := chat.Open(ctx, first.path, chat.Options{Data: c.Data, Groups: c.groups})
	if err != nil {
		return cause(err)
	}
	defer source.Close()
	for _, j := range jobs {
		if !source.Stamp.Same(j.stamp) {
			return safefile.ErrChanged
		}
	}
	splices, err := c.linkLines(source, jobs)
	if err != nil {
		return err
	}
	if c.Force && c.Kind == names.Checkpoint {
		stale, err := staleLinks(ctx, source, jobs)
		if err != nil {
			return err
		}
		splices = append(splices, stale...)
	}
	slug := ""
	if len(splices) > 0 && (c.BumpIntegrity || first.luker.is) {
		slug = c.NewUUID()
		splices = append(splices, bump(source, slug)...)
	}
	if !c.DryRun && len(splices) > 0 {
		err := rewrite(source, splices, c.NoSync)
		if err != nil && !unsynced(err) {
			return cause(err)
		}
		first.fail(err)
		first.fail(c.syncSlug(first, slug))
	}
	for _, jobs := range byMessage(jobs) {
		jobs[0].link.report(jobs)
	}
	for _, j := range jobs {
		j.res.Linked, j.res.InPlace = true, j.res.InPlace || len(splices) > 0
		j.res.would("note it on message %d of %s", j.at, j.path)
	}
	return nil
}

// byMessage groups the jobs by the message that they hang on, in their order.
func byMessage(jobs []*cutJob) (groups [][]*cutJob) {
	number := map[int64]int{}
	for _, j := range jobs {
		i, ok := number[j.last.Off]
		if !ok {
			i = len(groups)
			number[j.last.Off] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], j)
	}
	return groups
}

// linkLines edits the messages on which the new chats hang.
func (c *cut) linkLines(source *chat.Chat, jobs []*cutJob) ([]splice, error) {
	var splices []splice
	for _, jobs := range byMessage(jobs) {
		first := jobs[0]
		if len(jobs) > 1 {
			var err error
			if first.link, err = c.linkFor(source.Source, jobs...); err != nil {
				return nil, fmt.Errorf("message %d: %w", first.at, err)
			}
		}
		if change := first.link.change; change != nil {
			splices = append(splices, splice{first.last.Off + int64(change.At), int64(change.Len), change.Data})
		}
	}
	return splices, nil
}

// link is what notes new chats on the message that they hang on.
type link struct {
	change   *rawjson.Splice // of the message's line; nil where it has them already
	replaced string          // the checkpoint that it was linked to
}

// linkFor makes the link of the jobs of one message.
func (c *cut) linkFor(source jsonl.Source, jobs ...*cutJob) (l link, err error) {
	line, err := source.Section(jobs[0].last.Off, jobs[0].last.Len)
	if err != nil {
		return l, err
	}
	if c.Kind == names.Branch {
		var all []string
		for _, j := range jobs {
			all = append(all, j.name.File)
		}
		l.change, err = message.BranchSplice(line, all...)
		return l, err
	}
	last := jobs[len(jobs)-1] // a message has one checkpoint
	l.change, l.replaced, err = message.BookmarkSplice(line, last.name.File)
	return l, err
}

// report says which checkpoints the message is no longer linked to.
func (l link) report(jobs []*cutJob) {
	if jobs[0].Kind == names.Branch {
		return
	}
	old := l.replaced
	for _, j := range jobs {
		if replaced := old; old != "" && old != j.name.File {
			j.res.ReplacedLink = &replaced
			j.res.warn("%s: message %d was linked to the checkpoint %q; that link is replaced, its file is untouched", j.path, j.at, old)
		}
		old = j.name.File
	}
}

// staleLinks takes the links to the same checkpoints off other messages: a
// checkpoint that is made again hangs on one message.
func staleLinks(ctx context.Context, source *chat.Chat, jobs []*cutJob) ([]splice, error) {
	type found struct{ stale []splice }
	at := map[int64]bool{}
	for _, j := range jobs {
		at[j.last.Off] = true
	}
	var all []splice
	keys := jsonl.NewKeys("extra")
	err := jsonl.Map(ctx, source.Source, jsonl.MapOptions{From: source.Body, Line: source.BodyLine, Limit: -1, Keys: keys},
		func(l *jsonl.Line, f *found) {
			if l.Damage != nil || at[l.Off] {
				return
			}
			extra, _ := l.Value(0)
			raw, _ := rawjson.Lookup(extra, "bookmark_link")
			link, _ := rawjson.Unquote(raw)
			if link == "" || !slices.ContainsFunc(jobs, func(j *cutJob) bool { return j.name.File == link }) {
				return
			}
			line := rawjson.DeletePath(l.Raw, "extra", "bookmark_link")
			f.stale = append(f.stale, splice{l.Off, int64(len(l.Raw)), line})
		},
		func(f *found, _ jsonl.Base, _ []jsonl.Damage) error {
			all = append(all, f.stale...)
			return nil
		}, nil)
	return all, err
}

// bump gives the source's header a new slug; a chat without a header has none.
func bump(source *chat.Chat, slug string) []splice {
	if source.Header == nil {
		return nil
	}
	was := source.HeaderSpan
	source.Header.Metadata().Set("integrity", rawjson.Quote(slug))
	return []splice{{was.Off, was.Len, source.Header.Bytes()}}
}

// rewrite replaces a chat by itself with the splices in it, byte for byte
// otherwise. The chat is closed then: Windows replaces no file that is open.
func rewrite(source *chat.Chat, splices []splice, noSync bool) error {
	slices.SortFunc(splices, func(a, b splice) int { return cmp.Compare(a.off, b.off) })
	temp, err := safefile.New(source.Path, safefile.Options{NoSync: noSync})
	if err != nil {
		return err
	}
	defer temp.Discard()
	buf := make([]byte, min(1<<20, source.Source.Size+1))
	at := int64(0)
	for _, s := range splices {
		if _, err := io.CopyBuffer(temp, io.NewSectionReader(source.File(), at, s.off-at), buf); err != nil {
			return err
		}
		if _, err := temp.Write(s.data); err != nil {
			return err
		}
		at = s.off + s.len
	}
	if _, err := io.CopyBuffer(temp, io.NewSectionReader(source.File(), at, source.Source.Size-at), buf); err != nil {
		return err
	}
	if err := temp.Prepare(); err != nil {
		return err
	}
	source.Close()
	return temp.Replace(source.Stamp)
}
