package keep

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/history"
	"stchat/internal/history/lost"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// goneGroup is a group's file that is gone, and that comes back with its chats.
type goneGroup struct {
	path  string
	data  []byte   // what it held last
	chats []string // the names of those that come back in the same call
	made  bool     // it is drafted
}

// create drafts the file: it lists what comes back, and of its other chats those that are there. open is
// the name of the chat that it opens with; "": the one it had, if that is among them.
func (g *goneGroup) create(set *changeset.Set, open string) error {
	if g.made {
		return nil
	}
	f, err := group.Parse(g.path, g.data)
	if err != nil {
		return err
	}
	chats := userdir.Dir{Root: filepath.Dir(filepath.Dir(g.path))}.GroupChats()
	is := func(name string) (string, bool) {
		return name, f.HasOldLayout() || slices.Contains(g.chats, name) || isFile(filepath.Join(chats, name+names.Extension))
	}
	if _, ok := is(f.ChatID); !ok && open == "" {
		open = g.chats[0]
	}
	listing, err := group.Parse(g.path, f.WithNames(is, open))
	if err != nil {
		return err
	}
	data, err := listing.WithChats(g.chats...)
	if err != nil {
		return err
	}
	g.made = true
	return ops.Create(set, g.path, "the group, as it was last", data, changeset.InFolder())
}

// shareGroups makes each group's file that is gone come back once, with all chats of the call that it
// has.
func shareGroups(list []*restoring) {
	byPath := map[string]*goneGroup{}
	for _, r := range list {
		if r.goneGroup == nil {
			continue
		}
		g := byPath[r.group]
		if g == nil {
			g = r.goneGroup
			byPath[r.group] = g
		}
		g.chats = append(g.chats, userdir.ChatName(r.path))
		r.goneGroup = g
	}
}

// grouping finds the group of a chat that comes back.
type grouping struct {
	*restoring
	lib *library.Library
	set *group.Set
}

// findGroup finds the group file in whose list the chat belongs: the one that lists it, or that did;
// likewise what it stands beside, or a chat that was made from it; the group by whose name it was asked
// for; the only one that has all who speak in it. One that is gone comes back, if it listed the chat.
func (r *restoring) findGroup(ctx context.Context) error {
	if kind, _ := userdir.KindOf(r.s.path); kind != userdir.Group {
		return nil
	}
	g := &grouping{restoring: r, lib: new(library.Library)}
	var err error
	g.set, err = g.lib.Groups(userdir.Dir{Root: r.s.root})
	if err != nil {
		return err
	}
	named := func(context.Context) (string, error) { return r.s.group, nil }
	for _, find := range []func(context.Context) (string, error){g.listing, g.listedOnce, g.ofChild, named, g.gone, g.ofCast} {
		r.group, err = find(ctx)
		if r.group != "" || err != nil {
			return err
		}
	}
	return nil
}

// relatives are the chat's name, and those of the chats that it stands beside, which are of its group.
func (g *grouping) relatives() []string {
	name := userdir.ChatName(g.s.path)
	list := []string{name}
	for {
		at := strings.LastIndex(name, "__")
		if at <= 0 {
			return list
		}
		name = name[:at]
		list = append(list, name)
	}
}

// listing returns the group that lists the chat, or what it stands beside.
func (g *grouping) listing(context.Context) (string, error) {
	for _, name := range g.relatives() {
		if now := g.set.Listing(name); len(now) > 0 {
			return now[0].Path, nil
		}
	}
	return "", nil
}

// listedOnce returns the group that is there, and that listed the chat by the history.
func (g *grouping) listedOnce(ctx context.Context) (string, error) {
	for _, name := range g.relatives() {
		path, _, err := g.lister(ctx, name, isFile)
		if path != "" || err != nil {
			return path, err
		}
	}
	return "", nil
}

// gone returns the group that is gone, and that listed the chat by the history.
func (g *grouping) gone(ctx context.Context) (string, error) {
	isGone := func(path string) bool { return !isFile(path) }
	for _, name := range g.relatives() {
		path, data, err := g.lister(ctx, name, isGone)
		if path != "" || err != nil {
			g.goneGroup = &goneGroup{path: path, data: data}
			return path, err
		}
	}
	return "", nil
}

// lister returns the file of the group which listed a chat last by the history, and what it held last.
// takes says which files may be meant.
func (g *grouping) lister(ctx context.Context, name string, takes func(path string) bool) (string, []byte, error) {
	var last history.Chat
	var until time.Time
	for _, c := range g.s.list {
		if history.KindOf(c.Path) != history.Members || !takes(g.s.full(c.Path)) {
			continue
		}
		end, ok := g.s.listed(ctx, c.ID)[name]
		if ok && end.After(until) {
			last = c
			until = end
		}
	}

	if last.ID == 0 {
		return "", nil, nil
	}

	v, _, err := g.s.store.Last(ctx, last.ID, newest)
	if err != nil {
		return "", nil, err
	}
	data, err := g.s.content(ctx, &v)
	if err != nil {
		return "", nil, err
	}
	return g.s.full(last.Path), data, nil
}

// ofChild returns the group that lists a chat which names this one as its parent.
func (g *grouping) ofChild(ctx context.Context) (string, error) {
	parent := userdir.ChatName(g.s.path)
	for _, f := range g.set.Files {
		for _, name := range f.Chats {
			path := filepath.Join(filepath.Dir(g.s.path), name+names.Extension)
			c, err := chat.Open(ctx, path, chat.Options{Groups: g.lib, Any: true})
			if err != nil {
				continue // it is gone, too, or no chat
			}
			main, _ := rawjson.Unquote(c.Metadata().Value("main_chat"))
			c.Close()
			if main == parent {
				return f.Path, nil
			}
		}
	}
	return "", nil
}

// ofCast returns the only group that has all who speak in the chat.
func (g *grouping) ofCast(ctx context.Context) (string, error) {
	cast, err := g.s.cast(ctx, g.v)
	if err != nil || len(cast) == 0 {
		return "", err
	}
	found := ""
	for _, f := range g.set.Files {
		var members []string
		for avatar := range rawjson.Texts(rawjson.Value(f.Raw(), "members")) {
			members = append(members, avatar)
		}
		isStranger := func(avatar string) bool { return !slices.Contains(members, avatar) }
		if slices.ContainsFunc(cast, isStranger) {
			continue
		}
		if found != "" {
			return "", nil
		}
		found = f.Path
	}
	return found, nil
}

// cast returns the cards of those who speak in a version, as SillyTavern notes them in a group's chat;
// none of another chat.
func (s *subject) cast(ctx context.Context, v *version) ([]string, error) {
	content, done, err := safefile.SpoolFrom(func(w io.Writer) error { return s.write(ctx, v, w) }, "")
	if err != nil {
		return nil, err
	}
	defer done()
	return lost.Cast(content)
}

// groupName returns the name of the group that was found, "" if none was.
func (r *restoring) groupName() string {
	data := []byte(nil)
	if r.goneGroup != nil {
		data = r.goneGroup.data
	} else if r.group != "" {
		data, _ = os.ReadFile(r.group) // without it there is no name
	}
	f, err := group.Parse(r.group, data)
	if err != nil {
		return ""
	}
	return f.Name
}

// groupChats is the folder of the chats of all groups, as a history names it.
const groupChats = "group chats"

// listedLast returns, of some chats of groups, those of which a group's file is the last that listed them.
func (p *present) listedLast(ctx context.Context, groupFile string, chats []string) (list []string) {
	if p.listers == nil {
		p.listers = p.listersOf(ctx)
	}
	for _, name := range chats {
		if slices.Contains(p.listers[name], filepath.Base(groupFile)) {
			list = append(list, name)
		}
	}
	return list
}

// listersOf returns the names of the group files that list each chat, by its name; where none does, of
// those that did so last by the history. What cannot be read is no evidence.
func (p *present) listersOf(ctx context.Context) map[string][]string {
	listers := map[string][]string{}
	until := map[string]time.Time{}
	for _, c := range p.list {
		if history.KindOf(c.Path) != history.Members {
			continue
		}
		for name, end := range p.listed(ctx, c.ID) {
			last := until[name]
			if end.Before(last) {
				continue
			}
			if end.After(last) {
				listers[name] = nil
			}
			until[name] = end
			listers[name] = append(listers[name], path.Base(c.Path))
		}
	}

	now, _ := group.LoadAll(userdir.Dir{Root: p.root}.Groups())
	if now == nil {
		return listers
	}
	isListed := map[string]bool{}
	for _, f := range now.Files {
		for _, name := range f.Chats {
			if !isListed[name] {
				listers[name] = nil
			}
			isListed[name] = true
			listers[name] = append(listers[name], filepath.Base(f.Path))
		}
	}
	return listers
}

// listed returns until when a group's file listed each chat, by its name: until the version that did so no
// more.
func (p *present) listed(ctx context.Context, id int64) map[string]time.Time {
	until, ok := p.listings[id]
	if ok {
		return until
	}
	until = p.readListed(ctx, id)
	if p.listings == nil {
		p.listings = map[int64]map[string]time.Time{}
	}
	p.listings[id] = until
	return until
}

// readListed is [present.listed] from the versions of the file.
func (p *present) readListed(ctx context.Context, id int64) map[string]time.Time {
	until := map[string]time.Time{}
	versions, _ := p.store.Versions(ctx, id)
	stillThere := time.Unix(1<<40, 0) // later than all versions
	for i := range versions {
		data, err := p.content(ctx, &versions[i])
		if err != nil {
			continue
		}
		f, err := group.Parse(versions[i].Path, data)
		if err != nil {
			continue
		}
		end := stillThere
		if i+1 < len(versions) {
			end = versions[i+1].At
		}
		for _, name := range f.Chats {
			until[name] = end
		}
	}
	return until
}
