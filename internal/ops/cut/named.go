package cut

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// MessageNamed returns the index of the message of a chat at which a checkpoint or branch of that name
// hangs. The error wraps a [*NoPointError] if there is none.
func MessageNamed(ctx context.Context, path, name string) (int, error) {
	found, err := findNamed(ctx, &Options{AtName: name}, path)
	return found.index, err
}

// findNamed finds the message at which a source links to a checkpoint or branch, or else the
// last message that the two share.
func findNamed(ctx context.Context, opt *Options, source string) (lastMessage, error) {
	none := lastMessage{index: -1}
	if source == chat.Stdin {
		return none, noPoint(source, "a chat from standard input has no checkpoints and branches")
	}
	file, err := os.Stat(source)
	if err != nil {
		return none, ops.PathError(err)
	}
	real := userdir.RealPath(source) // a symbolic link leads to the chat that has a family
	graphs, err := family.Read(ctx, new(library.Library), []string{filepath.Dir(real)}, family.Options{})
	if err != nil {
		return none, ops.PathError(err)
	}
	g := graphs[0]
	at := slices.IndexFunc(g.Chats, func(c *family.Chat) bool {
		listed, err := os.Stat(c.Path)
		return err == nil && os.SameFile(listed, file)
	})
	if at < 0 {
		return none, noPoint(source, "its folder does not list it as a chat")
	}
	subject := g.Chats[at]
	wanted := g.Find(opt.AtName)
	isNoted := slices.ContainsFunc(subject.Links, func(l family.Link) bool { return l.Name == opt.AtName })
	if wanted == nil && !isNoted { // the label that was typed when it was made
		wanted, err = labelled(g, subject, opt.AtName)
		if err != nil {
			return none, fmt.Errorf("%s: %w", source, err)
		}
	}

	linked := -1
	for _, l := range subject.Links {
		leadsThere := wanted != nil && g.Find(l.Name) == wanted
		if !leadsThere && !isCalled(l.Name, opt.AtName) {
			continue
		}
		if linked >= 0 && linked != l.Index {
			return none, noPoint(source, fmt.Sprintf("messages %d and %d both have a link to %q", linked, l.Index, opt.AtName))
		}
		linked = l.Index
	}

	if linked >= 0 {
		return lastMessage{index: linked}, nil
	}

	if wanted == nil {
		return none, noPoint(source, fmt.Sprintf("there is no checkpoint or branch %q of this chat", opt.AtName))
	}
	point := family.PointOf(wanted.Messages, subject.Messages)
	if point.At < 0 {
		return none, noPoint(source, fmt.Sprintf("it shares no message with %q", opt.AtName))
	}
	return lastMessage{index: point.AtParent}, nil
}

func noPoint(source, why string) error {
	return fmt.Errorf("%s: %w", chat.Label(source), &NoPointError{why})
}

// isCalled reports whether a link's name is the one given, as it is or made safe for a file.
func isCalled(link, name string) bool {
	if link == name {
		return true
	}
	safe, err := names.Sanitize(link)
	return err == nil && safe == name
}

// labelled returns the relative of a chat that was given a label when it was made, nil for
// none: the one called CHAT__LABEL, else "LABEL - <time>", else ending in __LABEL. The error
// is a [*NoPointError] if there are several.
func labelled(g *family.Graph, subject *family.Chat, label string) (*family.Chat, error) {
	if c := g.Find(subject.Name + "__" + label); c != nil {
		return c, nil
	}
	// as SillyTavern appends it to a name, and did up to 1.12
	timed := regexp.MustCompile(`^ - \d{4}-\d{1,2}-\d{1,2} ?@\d\dh ?\d\dm ?\d\ds ?(\d{1,3}ms)?$`)

	for _, fits := range []func(name string) bool{
		func(name string) bool {
			time, ok := strings.CutPrefix(name, label)
			return ok && timed.MatchString(time)
		},
		func(name string) bool { return strings.HasSuffix(name, "__"+label) },
	} {
		var found []*family.Chat
		for _, c := range g.Chats {
			if c != subject && fits(c.Name) && g.Root(c) == g.Root(subject) {
				found = append(found, c)
			}
		}

		if len(found) > 1 {
			return nil, &NoPointError{fmt.Sprintf("%q may be %q or %q", label, found[0].Name, found[1].Name)}
		} else if len(found) == 1 {
			return found[0], nil
		}
	}
	return nil, nil
}
