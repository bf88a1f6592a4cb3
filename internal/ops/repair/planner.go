package repair

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stchat/internal/extension/luker"
	"stchat/internal/folder/family"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
)

// planner turns findings into plans.
type planner struct {
	checker *rules.Checker
	want    rules.Set // what to repair
	asked   rules.Set // rules asked for by name
	opt     *Options
	renames *renames
	byPath  map[string]*plan
	plans   []*plan                  // in the order of the chats
	known   map[string]*rules.Chat   // the surveyed chats, by the paths of their files
	parents map[string]*rules.Chat   // other chats that were looked up, likewise
	graphs  map[string]*family.Graph // of folders, in the files as they are now
	files   map[string]*attachments  // by user folder
}

func newPlanner(opt *Options, s *surveyed) *planner {
	p := &planner{
		checker: s.checker, opt: opt,
		byPath: map[string]*plan{}, known: map[string]*rules.Chat{}, parents: map[string]*rules.Chat{}, graphs: map[string]*family.Graph{}, files: map[string]*attachments{},
	}
	p.want, p.asked = opt.wanted()
	p.renames = &renames{lib: &s.checker.Lookup.Library, preview: p.preview, folders: map[string]kin{}}
	for _, c := range s.chats {
		p.know(c)
	}
	return p
}

// know records how a chat is judged, by whatever path it was reached.
func (p *planner) know(c *rules.Chat) { p.known[p.checker.Lookup.Folder(c.Folder).File(c.Name)] = c }

// planOf returns the plan of a chat, created on first use.
func (p *planner) planOf(c *rules.Chat) *plan {
	one := p.byPath[c.Path]
	if one == nil {
		one = &plan{path: c.Path, chat: c, notes: map[int][]string{}, wanted: p.want.And(onLines()).Without(rules.SetOf(rules.MissingAttachment))}
		if c.Kind == userdir.File {
			one.wanted = one.wanted.Without(rules.OnLinks())
		}
		one.links.Target = p.checker.Lookup.Folder(c.Folder).Target
		one.links.Remove = p.asked
		one.links.Renamed = func(string) (string, bool) { return "", false }
		one.beside = p.checker.Lookup.Folder(c.Folder).Sidecars(c.Name)
		if p.opt.BumpIntegrity || len(one.beside) > 0 { // it shows Luker that the chat was edited
			one.slug = p.opt.Changes.NewUUID()
		}
		p.byPath[c.Path] = one
		p.plans = append(p.plans, one)
	}
	return one
}

// head plans how a chat's header gets to the front, if it may have to move there. It returns the
// chat scanned again in that form, nil if nothing changes; that must be judged anew, since its
// header may name what does not exist.
func (p *planner) head(ctx context.Context, c *rules.Chat) (again *rules.Chat, err error) {
	have := c.Repairable().And(p.want)
	moves := !c.HasHeader && have.HasAny(rules.SetOf(rules.NoHeader, rules.MisplacedHeader, rules.GroupOldLayout, rules.GroupUnlisted)) ||
		have.HasAny(rules.SetOf(rules.NUL, rules.InvalidJSON, rules.TornTail))
	if !moves || p.refuses(c) != nil {
		return nil, nil
	}
	file, src, err := openJudged(c)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var need newHeader
	files, old := p.checker.Lookup.OldGroups(c)
	if have.Has(rules.GroupUnlisted) && p.want.Has(rules.GroupOldLayout) && old == nil {
		files, old = p.checker.Lookup.OldGroup(c)
	}
	if old != nil && (have.Has(rules.GroupOldLayout) || have.Has(rules.GroupUnlisted)) && !c.HasHeader {
		need.old = old
		need.missing = append(need.missing, rules.GroupOldLayout)
	}
	for _, id := range []rules.ID{rules.NoHeader, rules.MisplacedHeader} {
		nothingKeepsIt := !c.HasHeader && old == nil
		isFirst := id == rules.NoHeader || c.Inside == 1
		if have.Has(id) && nothingKeepsIt && isFirst {
			need.missing = append(need.missing, id)
		}
	}

	if slices.Contains(need.missing, rules.NoHeader) && c.Inside != 1 {
		if need.whole, err = wholeHeaderOf(ctx, src, c, p.checker.Lookup.Folder(c.Folder), p.opt.Store); err != nil {
			return nil, err
		}
	}

	h, err := putInFront(ctx, src, c, have, need)
	if err != nil || h == nil {
		return nil, err
	}
	if again, err = p.checker.Rescan(ctx, c, h.view.over(src)); err != nil {
		return nil, err
	}
	p.know(again)
	one := p.planOf(again)
	one.head = *h
	if need.old != nil && h.view.inserted && h.view.from == 0 {
		one.forget(files)
	}
	return again, nil
}

// preview returns what a chat will be once it is repaired: its lines, and the groups that list it. It
// returns nil for a chat that was not surveyed or must not be edited.
func (p *planner) preview(path string) *family.Preview {
	c := p.known[path]
	if c == nil || p.refuses(c) != nil {
		return nil
	}
	var front *view
	if one := p.byPath[c.Path]; one != nil {
		front = one.view
	}
	preview := &family.Preview{View: func(file jsonl.Source) jsonl.Source { return front.over(c.Reading.Over(file)) }}
	have := c.Repairable().And(p.want)
	if c.Group != nil && have.Has(rules.GroupUnlisted) {
		preview.Groups = []string{c.Group.Path}
	}
	if have.HasAny(rules.SetOf(rules.NUL, rules.InvalidJSON, rules.TornTail, rules.MisplacedHeader)) {
		preview.Line = lineEdit(have)
	}
	return preview
}

// chat plans the repairing of a chat's findings.
func (p *planner) chat(ctx context.Context, c *rules.Chat) error {
	if p.want.HasAny(onDamage()) {
		if err := guard(c, p.want); err != nil {
			return err
		}
	}

	if p.want.Has(rules.LukerFloor) && c.BesideErr != nil {
		return ops.PathError(c.BesideErr)
	}
	have := c.Repairable().And(p.want)
	if have.IsEmpty() {
		return nil
	}
	if err := p.refuses(c); err != nil {
		return err
	}
	if err := p.checker.Lookup.Folder(c.Folder).Err; err != nil {
		return ops.PathError(err) // what depends on the chat there is not known
	}
	if have.Has(rules.MisplacedHeader) && c.HasHeader {
		reason, err := p.keepsCopies(ctx, c)
		if err != nil {
			return err
		}
		if reason != "" {
			have = have.Without(rules.SetOf(rules.MisplacedHeader))
			one := p.planOf(c)
			one.left = append(one.left, reason)
		}
	}
	if have.Has(rules.UnlistedBranch) {
		if err := p.branch(ctx, c); err != nil {
			return err
		}
	}

	have = have.Without(rules.SetOf(rules.UnlistedBranch))
	renamed, left, err := p.renames.now(ctx, c, have)
	if err != nil {
		return err
	}
	if !renamed {
		have = have.Without(rules.Dangling().Without(p.asked))
	}
	if have.IsEmpty() && len(left) == 0 {
		return nil
	}
	files, err := p.attachments(c)
	if err != nil {
		return err
	}
	one := p.planOf(c)
	one.links.Renamed, one.left = p.renames.in(ctx, c, &one.failed), append(one.left, left...)
	one.want = have.And(onLines())
	if files != nil {
		one.looksFor(files)
	}
	if have.Has(rules.GroupOldLayout) && c.HasHeader && len(one.groups) == 0 {
		files, _ := p.checker.Lookup.OldGroups(c)
		one.forget(files)
	}
	if c.Group != nil && have.Has(rules.GroupUnlisted) {
		e := one.groups.editOf(c.Group.Path, c.Group.Raw())
		e.List = append(e.List, c.Name)
	}
	if have.Has(rules.IntegrityShared) {
		slug := rawjson.Quote(p.opt.Changes.NewUUID())
		one.edit(rules.IntegrityShared, "gave the chat an integrity of its own", func(h *meta.Header) {
			h.Metadata().Set("integrity", slug)
		})
	}

	if c.MainChat != "" && c.HasHeader {
		target, ok := p.checker.Lookup.Folder(c.Folder).Target(c.MainChat)
		one.parent(target, ok, have, p.asked)
	}
	if have.Has(rules.RecapChatID) {
		one.ownRecap(rules.RecapChatID)
	}
	one.keeping(have, p.want)
	one.cuttingLogs(have)
	return nil
}

// attachments returns the files that the attachments of a chat may mean, nil if these are not to be repaired.
func (p *planner) attachments(c *rules.Chat) (files *attachments, err error) {
	if !p.want.Has(rules.MissingAttachment) || !c.HasDir {
		return nil, nil
	}
	files = p.files[c.Dir.Root]
	if files == nil {
		files, err = attachmentsIn(c.Dir, p.opt.From)
		p.files[c.Dir.Root] = files
	}
	return files, err
}

// groups plans to take names that lead to no chat off the lists of groups.
func (p *planner) groups(s *surveyed) {
	if !p.asked.Has(rules.GroupMissingChat) {
		return
	}
	for _, missing := range s.checker.Missing(s.chats, around(s.walked, s.chats)) {
		one := &plan{path: missing.Group.Path}
		edit := one.groups.editOf(missing.Group.Path, missing.Group.Raw())
		edit.Unlist = missing.Names
		p.plans = append(p.plans, one)
	}
}

// branch plans to note a branch in its parent, on the message at which it parts from it.
func (p *planner) branch(ctx context.Context, c *rules.Chat) error {
	g := p.graphs[c.Folder]
	if g == nil {
		graphs, err := family.Read(ctx, &p.checker.Lookup.Library, []string{c.Folder}, family.Options{})
		if err != nil {
			return ops.PathError(err)
		}
		g = graphs[0]
		p.graphs[c.Folder] = g
	}

	child, parent := g.Find(c.Name), g.Find(c.MainChat)
	switch {
	case child == nil || parent == nil:
		return nil
	case parent.Err != nil:
		return ops.PathError(parent.Err)
	}

	at := family.PointOf(child.Messages, parent.Messages).AtParent
	if at < 0 {
		one := p.planOf(c)
		one.left = append(one.left, fmt.Sprintf("unlisted-branch: it shares no message with its parent %q, so there is no place to note it", clip(parent.Name)))
		return nil
	}

	judged := cmp.Or(p.known[parent.Path], p.parents[parent.Path])
	if judged == nil {
		var err error
		if judged, err = p.checker.Scan(ctx, parent.Path, rules.ScanOptions{}); err != nil {
			return ops.PathError(err)
		}
		p.parents[parent.Path] = judged
	}
	if err := p.refuses(judged); err != nil {
		return err
	}
	one := p.planOf(judged)
	one.notes[at] = append(one.notes[at], c.Name)
	return nil
}

// refuses returns why the chat's file must not be edited, nil if it may be.
func (p *planner) refuses(c *rules.Chat) error {
	if c.HasDir && c.Kind != userdir.File {
		if reason := luker.InDatabase(c.Dir.Root); reason != "" {
			return fmt.Errorf("%s: %s; repair the chat in an export, outside this folder", c.Path, reason)
		}
	}
	return unread(c, p.want)
}
