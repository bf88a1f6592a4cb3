package mend

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stchat/internal/family"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// links mends where a message's links lead.
type links struct {
	target  func(name string) (target string, ok bool)
	renamed func(name string) (now string, ok bool) // what is gone, and what it is called now; empty: nobody can tell
	remove  rules.Set                               // by these rules links go that lead nowhere
}

func onLinks() rules.Set {
	return rules.SetOf(rules.DanglingCheckpoint, rules.DanglingBranch, rules.UnsafeName)
}

// dangling are the rules of names that lead nowhere.
func dangling() rules.Set {
	return rules.SetOf(rules.DanglingMainChat, rules.DanglingCheckpoint, rules.DanglingBranch)
}

// mend returns the message with its links mended. Swipes carry a link that the message
// has, too: it is told once.
func (l *links) mend(want rules.Set, line []byte) (out []byte, changes []change) {
	out = message.EditLinks(line, func(checkpoint bool, name string) (to string, keep bool) {
		dead, what := rules.DanglingBranch, "branch"
		if checkpoint {
			dead, what = rules.DanglingCheckpoint, "checkpoint"
		}
		to, one := l.link(want, name, dead, what)
		if one.text == "" {
			return name, true
		}
		if !slices.ContainsFunc(changes, func(c change) bool { return c.text == one.text }) {
			changes = append(changes, one)
		}
		return to, to != ""
	})
	return out, changes
}

// link judges one link: what was renamed and what is spelled otherwise is put
// right, what is gone goes where that was asked for, and to is empty. The change
// has no text where the link stays.
func (l *links) link(want rules.Set, name string, dead rules.ID, what string) (to string, one change) {
	target, alive := l.target(name)
	switch {
	case alive && target != name && want.Has(rules.UnsafeName):
		return target, change{rule: rules.UnsafeName, text: fmt.Sprintf("the link to the %s names the file as it is called", what)}
	case alive || !want.Has(dead):
		return "", change{}
	}
	switch now, renamed := l.renamed(name); {
	case renamed && now == "":
	case renamed:
		return now, change{rule: dead, text: fmt.Sprintf("the link to the %s %q names %q, as it is called now", what, clip(name), clip(now))}
	case l.remove.Has(dead):
		return "", change{rule: dead, text: fmt.Sprintf("removed the link to the %s %q, which is not there", what, clip(name))}
	}
	return "", change{}
}

// parent mends main_chat. Without a parent Auto-Recap erases a running recap of
// another chat, so that becomes this chat's own.
func (p *planner) parent(one *plan, have rules.Set) {
	c := one.chat
	if c.MainChat == "" {
		return
	}
	target, ok := p.checker.Around.LinkTarget(c.Folder, c.MainChat)
	var now string
	var renamed bool
	if !ok && have.Has(rules.DanglingMainChat) {
		now, renamed = one.links.renamed(c.MainChat)
	}
	switch {
	case renamed && now == "":
	case renamed:
		one.header = append(one.header, headerEdit{
			rules.DanglingMainChat, fmt.Sprintf("main_chat names %q, as the parent is called now", clip(now)),
			func(h *meta.Header) { h.Metadata().Set("main_chat", rawjson.Quote(now)) },
		})
	case !ok && have.Has(rules.DanglingMainChat) && p.asked.Has(rules.DanglingMainChat):
		one.header = append(one.header, headerEdit{
			rules.DanglingMainChat, "removed main_chat, which named a chat that is not there",
			func(h *meta.Header) { h.Metadata().Unset("main_chat") },
		})
		if c.ForeignRecap() {
			one.ownRecap(rules.DanglingMainChat)
		}
	case ok && target != c.MainChat && have.Has(rules.UnsafeName):
		one.header = append(one.header, headerEdit{
			rules.UnsafeName, "main_chat names the file as it is called",
			func(h *meta.Header) { h.Metadata().Set("main_chat", rawjson.Quote(target)) },
		})
	}
}

// branch notes a branch in its parent, on the message at which it parts from it.
func (p *planner) branch(ctx context.Context, c *rules.Chat) error {
	g, err := p.graph(ctx, c.Folder)
	if err != nil {
		return ops.PathError(err)
	}
	child, from := g.Find(c.Name), g.Find(c.MainChat)
	if child == nil || from == nil {
		return nil
	}
	if from.Err != nil {
		return ops.PathError(from.Err)
	}
	at := family.PointOf(child.Messages, from.Messages).AtParent
	if at < 0 {
		one := p.of(c)
		one.left = append(one.left, fmt.Sprintf("unlisted-branch: it shares no message with its parent %q, so there is no place to note it", clip(from.Name)))
		return nil
	}
	parent := cmp.Or(p.known[from.Path], p.parents[from.Path])
	if parent == nil {
		if parent, err = p.checker.Scan(ctx, from.Path, rules.ScanOptions{}); err != nil {
			return ops.PathError(err)
		}
		p.parents[from.Path] = parent
	}
	one := p.of(parent)
	one.notes[at] = append(one.notes[at], c.Name)
	return nil
}

// graph returns how the chats of a folder hang together as their files are now. A
// folder is read once.
func (p *planner) graph(ctx context.Context, folder string) (*family.Graph, error) {
	if g := p.graphs[folder]; g != nil {
		return g, nil
	}
	graphs, err := family.Read(ctx, &p.checker.Around.Library, []string{folder}, family.Options{})
	if err != nil {
		return nil, err
	}
	p.graphs[folder] = graphs[0]
	return graphs[0], nil
}
