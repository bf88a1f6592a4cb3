package ops

import (
	"context"
	"fmt"
	"path/filepath"

	"stchat/internal/group"
	"stchat/internal/luker"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
	"stchat/internal/userdir"
)

// mendPlan is what is to be done about one chat.
type mendPlan struct {
	chat    *rules.Chat
	checker *rules.Checker
	want    rules.Set // rules whose mending goes through the lines of the chat
	header  []headerEdit
	missing []rules.ID     // what a new header is for; empty: none is needed
	old     []byte         // metadata for the new header, out of a group file
	notes   map[int]string // branches to note, by the message they hang on

	join      string        // the group file that is to list the chat
	oldGroups []*group.File // those that lose the chat's metadata
	failed    bool
}

// headerEdit is a change to the header.
type headerEdit struct {
	rule   rules.ID
	change string
	do     func(h *meta.Header)
}

// empty reports whether the chat's own file stays as it is.
func (p *mendPlan) empty() bool {
	return p.want == 0 && len(p.header) == 0 && len(p.missing) == 0 && len(p.notes) == 0
}

// onLines are the rules that are mended line by line.
var onLines = rules.SetOf(rules.BOM, rules.CRLF, rules.NUL, rules.InvalidJSON, rules.TornTail, rules.NotAnObject, rules.TooDeep,
	rules.SwipeID, rules.SwipeText, rules.SwipeInfo, rules.DanglingCheckpoint, rules.DanglingBranch, rules.UnsafeName)

// plan turns findings into what is to be done, a plan a chat, in the order of
// the chats.
func (r *repair) plan(ctx context.Context, s *surveyed) ([]*mendPlan, error) {
	byPath := map[string]*mendPlan{}
	var plans []*mendPlan
	of := func(c *rules.Chat) *mendPlan {
		p := byPath[c.Path]
		if p == nil {
			p = &mendPlan{chat: c, checker: s.checker, notes: map[int]string{}}
			byPath[c.Path] = p
			plans = append(plans, p)
		}
		return p
	}
	known := map[string]*rules.Chat{}
	for _, c := range s.chats {
		known[filepath.Clean(c.Path)] = c
	}
	for _, c := range s.chats {
		have := c.Mendable() & r.want
		if have == 0 {
			continue
		}
		if have.Has(rules.UnlistedBranch) {
			if err := r.planBranch(ctx, s, c, known, of); err != nil {
				return nil, err
			}
		}
		if have &^= rules.SetOf(rules.UnlistedBranch); have != 0 {
			r.planChat(of(c), have)
		}
	}
	return plans, nil
}

// planChat plans what the chat's own findings ask for.
func (r *repair) planChat(p *mendPlan, have rules.Set) {
	c := p.chat
	p.want = have & onLines
	if have.Has(rules.GroupOldLayout) {
		p.oldGroups, p.old = p.checker.OldGroups(c)
		if !c.HasHeader {
			p.missing = append(p.missing, rules.GroupOldLayout)
		}
	}
	for _, id := range []rules.ID{rules.NoHeader, rules.MisplacedHeader} {
		if have.Has(id) && !c.HasHeader && p.old == nil && (id == rules.NoHeader || c.Inside == 1) {
			p.missing = append(p.missing, id)
		}
	}
	if have.Has(rules.GroupUnlisted) {
		p.join = c.Group
	}
	if have.Has(rules.IntegrityShared) {
		slug := rawjson.Quote(r.NewUUID())
		p.header = append(p.header, headerEdit{
			rules.IntegrityShared, "gave the chat an integrity slug of its own",
			func(h *meta.Header) { h.Metadata().Set("integrity", slug) },
		})
	}
	r.planParent(p, have)
	if have.Has(rules.RecapChatID) {
		p.ownRecap(rules.RecapChatID)
	}
}

// planParent mends main_chat. Without a parent Auto-Recap erases a running
// recap of another chat, so that becomes this chat's own.
func (r *repair) planParent(p *mendPlan, have rules.Set) {
	c := p.chat
	if c.MainChat == "" {
		return
	}
	target, ok := p.checker.LinkTarget(c.Folder, c.MainChat)
	switch {
	case !ok && have.Has(rules.DanglingMainChat):
		p.header = append(p.header, headerEdit{
			rules.DanglingMainChat, "removed main_chat, which named a chat that is not there",
			func(h *meta.Header) { h.Metadata().Unset("main_chat") },
		})
		if c.ForeignRecap() {
			p.ownRecap(rules.DanglingMainChat)
		}
	case ok && target != c.MainChat && have.Has(rules.UnsafeName):
		p.header = append(p.header, headerEdit{
			rules.UnsafeName, "main_chat names the file as it is called",
			func(h *meta.Header) { h.Metadata().Set("main_chat", rawjson.Quote(target)) },
		})
	}
}

// ownRecap makes the running recap the chat's own.
func (p *mendPlan) ownRecap(id rules.ID) {
	const key = "auto_recap_running_scene_recaps"
	name := rawjson.Quote(p.chat.Name)
	p.header = append(p.header, headerEdit{id, "set chat_id of the running recap to this chat", func(h *meta.Header) {
		store, _ := h.Metadata().Get(key)
		if edited, err := rawjson.SetPath(store, name, "chat_id"); err == nil {
			h.Metadata().Set(key, edited)
		}
	}})
}

// planBranch notes a branch in its parent, on the last message that both share.
func (r *repair) planBranch(ctx context.Context, s *surveyed, c *rules.Chat, known map[string]*rules.Chat, of func(*rules.Chat) *mendPlan) error {
	name, ok := s.checker.LinkTarget(c.Folder, c.MainChat)
	if !ok {
		return nil
	}
	path := filepath.Join(c.Folder, name+".jsonl")
	n, err := s.checker.Common(ctx, path, c.Path, -1)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.result(c.Path).Err = pathError(err)
		return nil
	}
	if n == 0 {
		res := r.result(c.Path)
		res.Left = append(res.Left, fmt.Sprintf("unlisted-branch: it shares no message with its parent %q, so there is no place to note it", name))
		return nil
	}
	parent := known[filepath.Clean(path)]
	if parent == nil {
		if parent, err = s.checker.Scan(ctx, path, rules.ScanOptions{}); err != nil {
			r.result(c.Path).Err = pathError(err)
			return nil
		}
		known[filepath.Clean(path)] = parent
	}
	of(parent).note(n-1, c.Name)
	return nil
}

// note adds a branch to be noted on a message. Names cannot have a NUL in them.
func (p *mendPlan) note(index int, name string) {
	if p.notes[index] != "" {
		name = p.notes[index] + "\x00" + name
	}
	p.notes[index] = name
}

// lukerChat reports whether Luker keeps state beside the chat: then every edit
// needs a fresh slug, in the header and in chat_sync.
func (p *mendPlan) lukerChat() (is bool, sync string) {
	for _, sidecar := range p.checker.Sidecars(p.chat) {
		is = true
		if sidecar.Kind == luker.ChatSync {
			sync = sidecar.Path
		}
	}
	return is, sync
}

// inDatabase tells why the chat's file must not be edited.
func (p *mendPlan) inDatabase() error {
	if !p.chat.HasDir || p.chat.Kind == userdir.File {
		return nil
	}
	if reason := luker.InDatabase(p.chat.Dir.Root); reason != "" {
		return fmt.Errorf("%s: %s; repair the chat in an export, outside this folder", p.chat.Path, reason)
	}
	return nil
}
