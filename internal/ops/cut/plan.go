package cut

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/text/progress"
)

// nameAll decides the names of the new chats in the order of the sources. What the names
// depend on is read before, for all sources in parallel.
func nameAll(ctx context.Context, c *call, jobs []*job) {
	if c.opt.AtName != "" {
		for _, j := range jobs {
			j.last, j.res.Err = findNamed(ctx, c.opt, j.source)
		}
	}

	if c.opt.readsFirst() {
		progress.Each(ctx, len(jobs), func(k int) {
			j := jobs[k]
			if j.res.Err == nil {
				j.res.Err = readFirst(ctx, c, j)
			}
		})
	}

	for _, j := range jobs {
		if j.res.Err == nil {
			j.res.Err = nameChat(ctx, c, j)
		}
	}
}

// readFirst finds the last message of a source before its new chat has a name.
func readFirst(ctx context.Context, c *call, j *job) error {
	defer j.pause(c)
	if err := j.open(ctx, c); err != nil {
		return err
	}
	return j.read(ctx, c.opt, true)
}

// nameChat decides the names of the new chat and of the clones of its lorebooks.
func nameChat(ctx context.Context, c *call, j *job) error {
	if err := expect(c, j); err != nil {
		return err
	}
	groups := groupsOf(c, j.source)
	var err error
	if c.opt.Output != "" {
		j.chatPath, err = outputPath(c, j)
	} else {
		j.chatPath, err = pathBeside(ctx, c, j, groups)
	}
	if err != nil || j.res.Doc.Existed {
		return err
	}

	j.res.Doc.Path = j.path
	if j.name.File != "" && j.path != Stdout {
		j.res.Doc.Name = &j.name.File
	}
	if j.beside && len(groups) > 0 {
		j.listing = groups[0].Path
	}
	if !c.opt.clones() {
		return nil
	}
	defer j.pause(c)
	if err := j.open(ctx, c); err != nil {
		return err
	}
	j.clones, err = nameClones(c, j)
	return err
}

// expect refuses what cannot be a source, and adds its size to the progress.
func expect(c *call, j *job) error {
	if j.source == chat.Stdin || c.opt.Content != nil {
		return nil
	}
	if j.src != nil {
		c.opt.Meter.Expect(1, j.src.Stamp.Size())
		return nil
	}
	f, was, err := chat.OpenStamped(j.source)
	if err != nil {
		return ops.PathError(err)
	}
	c.opt.Meter.Expect(1, was.Size())
	return f.Close()
}

// outputPath uses the path that was asked for.
func outputPath(c *call, j *job) (chatPath, error) {
	out := c.opt.Output
	if out == Stdout {
		return chatPath{path: out, name: names.Name{File: c.opt.Name, Label: c.opt.Name}}, nil
	}
	if err := ops.JudgeOutput(out, true); err != nil {
		return chatPath{}, err
	}
	name := userdir.ChatName(out)
	to := chatPath{path: out, name: names.Name{File: name, Label: cmp.Or(c.opt.Name, name)}}
	base := filepath.Base(out)
	if !names.Safe(base) {
		j.res.Warn("%s: SillyTavern cannot open a chat of this name: it removes some characters first", out)
	} else if len(base) > names.MaxFile {
		j.res.Warn("%s: SillyTavern can read a chat of so long a name, but not save it", out)
	}

	if j.source == chat.Stdin {
		return to, nil
	}
	if err := refuseSource(c, out); err != nil {
		return to, err
	}
	var err error
	to.beside, err = sameFolder(filepath.Dir(j.source), filepath.Dir(out))
	return to, ops.PathError(err)
}

// pathBeside derives the name and puts the new chat beside its source.
func pathBeside(ctx context.Context, c *call, j *job, groups []*group.File) (chatPath, error) {
	if err := chat.CheckName(j.source); err != nil {
		return chatPath{}, err
	}
	f, err := c.names.folder(filepath.Dir(j.source))
	if err != nil {
		return chatPath{}, ops.PathError(err)
	}
	made, unfit := names.Make(nameRequest(c, j, f, groups))
	prefix, _ := filepath.Split(j.source)
	to := chatPath{name: made, path: prefix + made.File + names.Extension, beside: true}
	if err := ops.JudgeChatPlace(to.path); err != nil {
		return to, err
	}

	o := offer{name: made, unfit: unfit, given: f.given[names.Fold(made.File)]}
	if o.isTaken() && c.opt.Force {
		o.there = isThere(made.File, to.path, groups)
	}
	use, err := decideName(c.opt, o)
	if err != nil {
		return to, fmt.Errorf("%s: %w", j.source, err)
	}
	switch use {
	case keepOld:
		return to, adopt(ctx, c, j, to)
	case replaceOld: // a free name cannot be a source's
		if err := refuseSource(c, to.path); err != nil {
			return to, err
		}
	}

	f.give(made.File)
	warnOfName(c.opt, j, made)
	return to, nil
}

// warnOfName warns of a name that is not the one that was asked for.
func warnOfName(opt *Options, j *job, made names.Name) {
	switch {
	case opt.Name != "" && made.Label != opt.Name:
		j.res.WarnSafeName(j.source, opt.Name, made.Label)
	case made.Shortened:
		j.res.Warn("%s: SillyTavern could not save a longer name, so the source's part in it is shortened: %s", j.source, made.File)
	}
}

// nameRequest returns the facts that the name is made from.
func nameRequest(c *call, j *job, f *folder, groups []*group.File) names.Request {
	r := names.Request{
		Kind: c.opt.Kind, Style: c.opt.Style, Chat: userdir.ChatName(j.source), Name: c.opt.Name,
		At: j.last.index, Now: c.opt.Changes.Now, Chats: f.chats,
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
	if len(sidecarsOf(c, j.source)) > 0 {
		r.Max = names.MaxLuker
	}
	return r
}

// adopt accepts an existing chat of the name as done, if it was made from this source.
func adopt(ctx context.Context, c *call, j *job, to chatPath) error {
	made, err := openMade(ctx, c, to.path, userdir.ChatName(j.source))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %q: %w", j.source, to.name.File, names.ErrTaken) // by the group's list, or in another letter case
	}
	if err != nil {
		return err
	}
	defer made.Close()
	all, err := jsonl.Copy(ctx, nil, made.Source, jsonl.CopyOptions{From: made.Body, Line: made.BodyLine, Limit: -1, Skip: true})
	if err != nil {
		return made.Errorf("%w", err)
	}
	d := &j.res.Doc
	d.Existed = true
	d.Path = to.path
	d.Name = &to.name.File
	d.At = all.Lines - 1
	d.Messages = all.Lines
	d.Bytes = made.Source.Size
	d.fromHeader(made.Metadata())
	return nil
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
