package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/names"
	"stchat/internal/rawjson"
)

// links collects the message's links.
func (s *scan) links(l *jsonl.Line, b *batch, extra, bookmark, branches []byte) {
	if bookmark == nil && branches == nil {
		return
	}
	add := func(kind LinkKind, raw []byte) {
		if name, ok := rawjson.Unquote(raw); ok && name != "" {
			b.links = append(b.links, Link{Kind: kind, Name: name, Index: l.Index, Line: l.Number, Column: column(l, extra)})
		}
	}
	add(Checkpoint, bookmark)
	for raw := range rawjson.Elements(branches) {
		add(Branch, raw)
	}
}

// safeName gives the name of the file that a link by name leads to; ok is false
// where it leads to none.
func safeName(name string) (safe string, ok bool) {
	safe, err := names.Sanitize(name)
	return safe, err == nil
}

// ownLinks judges a chat's own name and where its links lead.
func (k *Checker) ownLinks(c *Chat) {
	if safe, ok := safeName(c.Name); !ok || safe != c.Name {
		c.add(Finding{
			Rule: UnsafeName, Index: -1, Message: "the file's own name is not safe",
			effect: "SillyTavern lists the chat, asks its server for another name, and opens an empty chat",
			mend:   "rename the file, and the links to it",
		})
	}
	judge := func(id ID, what string, link Link) {
		finding := Finding{Line: link.Line, Column: link.Column, Index: link.Index}
		safe, ok := k.LinkTarget(c.Folder, link.Name)
		switch {
		case !ok:
			finding.Rule, finding.Message = id, fmt.Sprintf("%s %q is not there", what, clip(link.Name))
		case safe != link.Name:
			finding.Rule, finding.Message = UnsafeName, fmt.Sprintf("%s %q is the file %q", what, clip(link.Name), clip(safe))
		default:
			return
		}
		c.add(finding)
	}
	if c.MainChat != "" {
		judge(DanglingMainChat, "the parent", Link{Name: c.MainChat, Line: c.HeaderLine, Index: -1})
	}
	for _, link := range c.Links {
		if link.Kind == Checkpoint {
			judge(DanglingCheckpoint, "the checkpoint", link)
		} else {
			judge(DanglingBranch, "the branch", link)
		}
	}
}

// parents judges the chats of a folder by their parents.
func (k *Checker) parents(ctx context.Context, f *family) error {
	circles := f.circles()
	for _, c := range f.checked {
		if circle := circles[c]; circle != nil {
			c.report(ChatCycle, c.HeaderLine, 0, circleMessage(c, circle))
			continue
		}
		p := f.parent(c)
		if p == nil || !p.checked && !f.lookedUp[p] {
			continue
		}
		at := -1 // the message of the parent on which this chat is a checkpoint
		listed := false
		for i := range p.Links {
			l := &p.Links[i]
			if safe, ok := safeName(l.Name); l.Name != c.Name && (!ok || safe != c.Name) {
				continue
			}
			listed = true
			if l.Kind == Checkpoint && (at < 0 || c.Messages == l.Index+1) {
				at = i
			}
		}
		if !listed {
			c.report(UnlistedBranch, c.HeaderLine, 0, fmt.Sprintf("the parent %q has no link to this chat", clip(p.Name)))
		}
		if at < 0 {
			continue
		}
		if err := k.checkpoint(ctx, c, p, &p.Links[at]); err != nil {
			return err
		}
	}
	return nil
}

// checkpoint judges whether a checkpoint still is what its parent says up to
// the link. Where the hashes of the scan do not tell, both are read again.
func (k *Checker) checkpoint(ctx context.Context, c, p *Chat, link *Link) error {
	if c.Messages == link.Index+1 && c.chain == link.chain {
		return nil
	}
	n, err := k.Common(ctx, c.Path, p.Path, link.Index+1)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return nil // gone or changed since it was scanned
	}
	if n > link.Index {
		return nil
	}
	message := fmt.Sprintf("parts from its parent %q before the checkpoint's own message", clip(p.Name))
	finding := Finding{Rule: DivergedCheckpoint, Line: c.HeaderLine, Index: n, Message: message}
	if n >= c.Messages {
		finding.Index = -1
		finding.Message = fmt.Sprintf("ends before the message of its parent %q on which it hangs", clip(p.Name))
	}
	c.add(finding)
	return nil
}

// circles gives, for every chat that is its own ancestor, the chats of its
// circle. Each chat is walked over once.
func (f *family) circles() map[*Chat][]*Chat {
	found := map[*Chat][]*Chat{}
	walk := map[*Chat]int{} // the walk that came by
	for i, c := range f.chats {
		var way []*Chat
		for p := c; p != nil; p = f.parent(p) {
			if walk[p] != 0 {
				if walk[p] == i+1 {
					circle := way[slices.Index(way, p):]
					for _, member := range circle {
						found[member] = circle
					}
				}
				break
			}
			walk[p] = i + 1
			way = append(way, p)
		}
	}
	return found
}

// circleMessage tells the chats of a circle, beginning with c.
func circleMessage(c *Chat, circle []*Chat) string {
	if len(circle) == 1 {
		return "the chat is its own parent"
	}
	const enough = 5
	at := slices.Index(circle, c)
	var way []string
	for i := range circle {
		if i == enough {
			way = append(way, fmt.Sprintf("and %d more", len(circle)-i))
			break
		}
		way = append(way, fmt.Sprintf("%q", clip(circle[(at+i)%len(circle)].Name)))
	}
	return "the chat is its own ancestor: " + strings.Join(way, " comes from ")
}
