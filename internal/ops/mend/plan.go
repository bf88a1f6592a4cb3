package mend

import (
	"context"
	"fmt"
	"time"

	"stchat/internal/family"
	"stchat/internal/group"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/meta"
	"stchat/internal/rules"
	"stchat/internal/userdir"
)

// plan is what is to be done about one chat.
type plan struct {
	chat   *rules.Chat // as it is judged with its header in front
	view   *view       // the chat's file with its header in front; nil where it is there
	steps  []headStep  // how it comes there
	want   rules.Set   // rules whose mending goes through the lines
	wanted rules.Set   // the same, for lines that nobody has judged yet
	header []headerEdit
	notes  map[int][]string // branches to note, by the message they hang on
	links  links
	state  *stateMender // nil: what extensions keep stays
	slug   string       // the chat's new one, whatever else is mended; empty: it keeps its own
	sync   string       // Luker's sidecar that has the slug too; empty: none does

	groups []*groupEdit // what is asked of group files
	left   []string     // what was asked for and cannot be mended
}

// headerEdit is a change to the header.
type headerEdit struct {
	rule   rules.ID
	change string
	do     func(h *meta.Header)
}

// isEmpty reports whether the chat's own file stays as it is.
func (p *plan) isEmpty() bool {
	return p.want == 0 && p.view == nil && len(p.header) == 0 && len(p.notes) == 0 && p.state == nil
}

// onLines are the rules that are mended line by line.
func onLines() rules.Set {
	return rules.SetOf(rules.BOM, rules.CRLF, rules.NUL, rules.InvalidJSON, rules.TornTail, rules.NotAnObject, rules.TooDeep, rules.MisplacedHeader) |
		rules.SetOf(rules.LegacyMedia) | onSwipes() | onLinks()
}

// planner turns findings into plans.
type planner struct {
	checker *rules.Checker
	want    rules.Set // what is mended
	asked   rules.Set // what was asked for by name
	newUUID func() string
	now     time.Time
	bump    bool
	renames *renames
	byPath  map[string]*plan
	plans   []*plan                // in the order of the chats
	known   map[string]*rules.Chat // those that are mended, by the paths of their files
	parents map[string]*rules.Chat // others that were looked up, the same
	graphs  map[string]*family.Graph
}

func newPlanner(opt *RepairOptions, s *surveyed) *planner {
	p := &planner{
		checker: s.checker, newUUID: opt.NewUUID, now: opt.Now, bump: opt.BumpIntegrity,
		byPath: map[string]*plan{}, known: map[string]*rules.Chat{}, parents: map[string]*rules.Chat{}, graphs: map[string]*family.Graph{},
	}
	p.want, p.asked = opt.wanted()
	p.renames = &renames{lib: &s.checker.Around.Library, as: p.as, folders: map[string]kin{}}
	for _, c := range s.chats {
		p.know(c)
	}
	return p
}

// know notes how a chat is judged.
func (p *planner) know(c *rules.Chat) { p.known[p.file(c)] = c }

// file is the path of a chat's file, however it was come by.
func (p *planner) file(c *rules.Chat) string { return p.checker.Around.Folder(c.Folder).File(c.Name) }

// of returns the plan of a chat, made when it is first asked for.
func (p *planner) of(c *rules.Chat) *plan {
	one := p.byPath[c.Path]
	if one == nil {
		one = &plan{chat: c, notes: map[int][]string{}, wanted: p.want & onLines()}
		if c.Kind == userdir.File {
			one.wanted &^= onLinks()
		}
		one.links.target = p.checker.Around.Folder(c.Folder).Target
		one.links.remove = p.asked
		one.links.renamed = func(string) (string, bool) { return "", false }
		sidecars := p.checker.Around.Folder(c.Folder).Sidecars(c.Name)
		for _, sidecar := range sidecars {
			if sidecar.Kind == luker.ChatSync {
				one.sync = sidecar.Path
			}
		}
		if p.bump || len(sidecars) > 0 { // Luker knows by it that the chat was edited
			one.slug = p.newUUID()
		}
		p.byPath[c.Path] = one
		p.plans = append(p.plans, one)
	}
	return one
}

// headed reports whether a chat's header may have to come to the front.
func (p *planner) headed(c *rules.Chat) bool {
	have := c.Mendable() & p.want
	return !c.HasHeader && have&rules.SetOf(rules.NoHeader, rules.MisplacedHeader, rules.GroupOldLayout, rules.GroupUnlisted) != 0 ||
		have&rules.SetOf(rules.NUL, rules.InvalidJSON, rules.TornTail) != 0
}

// head plans how a chat's header comes to stand in front. The chat it is then
// is to be judged anew: its header, too, may name what is not there.
func (p *planner) head(ctx context.Context, c *rules.Chat, src jsonl.Source) (again *rules.Chat, err error) {
	have := c.Mendable() & p.want
	var need newHeader
	files, old := p.checker.Around.OldGroups(c)
	if have.Has(rules.GroupUnlisted) && p.want.Has(rules.GroupOldLayout) && old == nil {
		files, old = p.checker.Around.OldGroup(c)
	}
	if old != nil && (have.Has(rules.GroupOldLayout) || have.Has(rules.GroupUnlisted)) && !c.HasHeader {
		need.old = old
		need.missing = append(need.missing, rules.GroupOldLayout)
	}
	for _, id := range []rules.ID{rules.NoHeader, rules.MisplacedHeader} {
		if have.Has(id) && !c.HasHeader && old == nil && (id == rules.NoHeader || c.Inside == 1) {
			need.missing = append(need.missing, id)
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
	one := p.of(again)
	one.view, one.steps = h.view, h.steps
	if need.old != nil && h.view.inserted && h.view.from == 0 {
		one.forget(files)
	}
	return again, nil
}

// headOf is head for a chat whose file is to be opened.
func (p *planner) headOf(ctx context.Context, c *rules.Chat) (*rules.Chat, error) {
	if !p.headed(c) || refuses(c) != nil {
		return nil, nil
	}
	file, src, err := openJudged(c)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return p.head(ctx, c, src)
}

// chat plans what a chat's findings ask for.
func (p *planner) chat(ctx context.Context, c *rules.Chat) error {
	have := c.Mendable() & p.want
	if have == 0 {
		return nil
	}
	if err := refuses(c); err != nil {
		return err
	}
	if have.Has(rules.UnlistedBranch) {
		if err := p.branch(ctx, c); err != nil {
			return err
		}
	}
	have &^= rules.SetOf(rules.UnlistedBranch)
	renamed, left, err := p.renames.now(ctx, c, have)
	if err != nil {
		return err
	}
	if !renamed {
		have &^= dangling() &^ p.asked
	}
	if have == 0 && len(left) == 0 {
		return nil
	}
	one := p.of(c)
	one.links.renamed, one.left = p.renames.in(ctx, c), append(one.left, left...)
	one.want = have & onLines()
	if have.Has(rules.GroupOldLayout) && c.HasHeader && len(one.groups) == 0 {
		files, _ := p.checker.Around.OldGroups(c)
		one.forget(files)
	}
	if f := p.checker.Around.GroupOf(c); f != nil && have.Has(rules.GroupUnlisted) {
		e := one.group(f)
		e.List = append(e.List, c.Name)
	}
	p.identity(one, have)
	p.parent(one, have)
	p.recap(one, have)
	p.state(one, have)
	return nil
}

// forget takes the chat's metadata out of group files.
func (p *plan) forget(files []*group.File) {
	for _, f := range files {
		e := p.group(f)
		e.Forget = append(e.Forget, p.chat.Name)
	}
}

// refuses tells why the chat's file must not be edited.
func refuses(c *rules.Chat) error {
	if !c.HasDir || c.Kind == userdir.File {
		return nil
	}
	if reason := luker.InDatabase(c.Dir.Root); reason != "" {
		return fmt.Errorf("%s: %s; repair the chat in an export, outside this folder", c.Path, reason)
	}
	return nil
}
