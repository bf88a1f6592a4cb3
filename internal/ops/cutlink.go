package ops

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/names"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/visible"
)

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
