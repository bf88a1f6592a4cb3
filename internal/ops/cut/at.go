package cut

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/isolate"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
)

// findIndex finds the index of the last message, for names that contain it, or of the one chosen.
func findIndex(ctx context.Context, c *call, p *plan) error {
	src, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer c.release(src)
	if !c.opt.AtOne.All() {
		at, err := findChosen(ctx, c.opt, src, &c.opt.AtOne)
		p.last = lastMessage{index: at.index}
		return err
	}
	if p.last, err = findLast(ctx, c.opt, src, p.last); err != nil || p.last.index >= 0 {
		return err
	}
	copied, err := copyTo(ctx, c.opt, nil, src, p.last)
	if err == nil {
		p.last = lastMessage{copied.Last[0].Index, true, copied.Skipped}
	}
	return err
}

// findChosen finds the one message that a choice means.
func findChosen(ctx context.Context, opt *Options, src *chat.Chat, choice *choose.Choice) (lastMessage, error) {
	from := choose.SourceOf(src)
	from.Workers, from.Progress = opt.workers(), opt.Meter.Follow()
	at, scanned, err := choice.One(ctx, from)
	switch {
	case scanned.Damage.Total > 0 && !opt.SkipDamaged:
		err = src.DamageError(scanned.Damage.First[0])
	case err != nil:
		err = src.Errorf("%w", err)
	default:
		err = src.Unchanged()
	}
	if err != nil {
		at.Index = -1
	}
	return lastMessage{at.Index, true, scanned.Damage}, err
}

// findLast finds the last message if that takes a pass of its own: by a date, or counted from
// far back. Otherwise it returns known.
func findLast(ctx context.Context, opt *Options, src *chat.Chat, known lastMessage) (lastMessage, error) {
	switch {
	case known.index >= 0:
		return known, nil
	case !opt.AsOf.IsZero():
		return findDate(ctx, opt, src)
	case opt.At < -maxPlaces:
		return findFromEnd(ctx, opt, src)
	}
	return known, nil
}

// findFromEnd finds a message counted from the end by counting all messages.
func findFromEnd(ctx context.Context, opt *Options, src *chat.Chat) (lastMessage, error) {
	counted, err := jsonl.Copy(ctx, nil, src.Source, copyOptions(opt, src, -1, 0))
	if err := readError(src, err); err != nil {
		return lastMessage{index: -1}, err
	}
	at := counted.Lines + opt.At
	if at < 0 {
		return lastMessage{index: -1}, outOfRange(opt, src, counted.Lines)
	}
	return lastMessage{at, true, counted.Skipped}, nil
}

// findDate finds the last message with a readable date not later than AsOf.
func findDate(ctx context.Context, opt *Options, src *chat.Chat) (lastMessage, error) {
	found, err := findChosen(ctx, opt, src, &choose.Choice{Filter: choose.Filter{Until: opt.AsOf}, Last: 1})
	if !errors.Is(err, choose.ErrNone) {
		return found, err
	}
	dated := choose.Choice{Filter: choose.Filter{Until: time.Unix(1<<40, 0)}, Last: 1}
	if _, err = findChosen(ctx, opt, src, &dated); errors.Is(err, choose.ErrNone) {
		return found, src.Errorf("no message has a date that can be read")
	} else if err != nil {
		return found, err
	}
	return found, src.Errorf("no message is as old as %s", opt.AsOf.Format(time.RFC3339))
}

// MessageNamed returns the index of the message of a chat at which a checkpoint or branch of that name
// hangs. The error wraps [ErrNoPoint] if there is none.
func MessageNamed(ctx context.Context, path, name string) (int, error) {
	found, err := findNamed(ctx, &Options{AtName: name}, path)
	return found.index, err
}

// findNamed finds the message at which a source links to a checkpoint or branch, or else the
// last message that the two share (FAMILY.md 1.1).
func findNamed(ctx context.Context, opt *Options, source string) (lastMessage, error) {
	none := lastMessage{index: -1}
	if source == chat.Stdin {
		return none, fmt.Errorf("%s: %w: a chat from standard input has no relatives", chat.Label(source), ErrNoPoint)
	}
	graphs, err := family.Read(ctx, new(library.Library), []string{filepath.Dir(source)}, family.Options{})
	if err != nil {
		return none, ops.PathError(err)
	}
	g := graphs[0]
	at := slices.IndexFunc(g.Chats, func(c *family.Chat) bool { return filepath.Base(c.Path) == filepath.Base(source) })
	if at < 0 {
		return none, nil // opening it will report why
	}
	subject := g.Chats[at]
	wanted := g.Find(opt.AtName)
	noted := slices.ContainsFunc(subject.Links, func(l family.Link) bool { return l.Name == opt.AtName })
	if wanted == nil && !noted { // the label that was typed when it was made
		if wanted, err = labelled(g, subject, opt.AtName); err != nil {
			return none, fmt.Errorf("%s: %w", source, err)
		}
	}
	at = -1
	for _, l := range subject.Links {
		if safe, err := names.Sanitize(l.Name); l.Name != opt.AtName && (err != nil || safe != opt.AtName) && (wanted == nil || g.Find(l.Name) != wanted) {
			continue
		}
		if at >= 0 && at != l.Index {
			return none, fmt.Errorf("%s: %w: it notes %q at the messages %d and %d", source, ErrNoPoint, opt.AtName, at, l.Index)
		}
		at = l.Index
	}
	if at >= 0 {
		return lastMessage{index: at}, nil
	}
	if wanted == nil {
		return none, fmt.Errorf("%s: %w: there is no chat %q beside it, and no message notes one", source, ErrNoPoint, opt.AtName)
	}
	point := family.PointOf(wanted.Messages, subject.Messages)
	if point.At < 0 {
		return none, fmt.Errorf("%s: %w: it shares no message with %q", source, ErrNoPoint, opt.AtName)
	}
	return lastMessage{index: point.AtParent}, nil
}

// labelled returns the relative of a chat that was given a label when it was made, nil for
// none: the one called CHAT__LABEL, else "LABEL - <time>", else ending in __LABEL. The error
// wraps [ErrNoPoint] if there are several.
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
			return nil, fmt.Errorf("%w: %q may be %q or %q", ErrNoPoint, label, found[0].Name, found[1].Name)
		} else if len(found) == 1 {
			return found[0], nil
		}
	}
	return nil, nil
}

// stateAtLast reads, in one pass, what isolation, snapshots and requirements need of the
// messages, which also finds the last message. The facts are nil if nothing is needed.
func stateAtLast(ctx context.Context, opt *Options, src *chat.Chat, known lastMessage) (*isolate.Facts, lastMessage, error) {
	known, err := findLast(ctx, opt, src, known)
	if needed := opt.Isolate || len(opt.Require) > 0 || opt.Lorebook == LorebookSnapshot; err != nil || !needed {
		return nil, known, err
	}
	at := opt.At
	if known.index >= 0 {
		at = known.index
	}
	state, err := isolate.Scan(ctx, src.Source, isolate.Options{
		From: src.Body, Line: src.BodyLine, At: at, Workers: opt.workers(), Progress: opt.Meter.Follow(),
	})
	out, outside := errors.AsType[*isolate.RangeError](err)
	if err != nil && !outside {
		return nil, known, src.Errorf("%w", err)
	}
	if at < 0 {
		// the copy stops at the last message and does not see damage after it
		if known.whole, known.damage = true, state.Damage; known.damage.Total > 0 && !opt.SkipDamaged {
			return nil, known, src.DamageError(known.damage.First[0])
		}
	}
	if outside {
		return nil, known, outOfRange(opt, src, out.Messages)
	}
	known.index = state.At
	if opt.Message == nil {
		return state, known, nil
	}
	// the state at the last message is that after its edit
	copied, err := copyTo(ctx, opt, nil, src, known)
	if err != nil {
		return nil, known, err
	}
	line, err := edited(opt, src, copied.Last[0])
	if err != nil {
		return nil, known, err
	}
	state.Choose(line)
	return state, known, nil
}

// judge refuses a chat whose state at the last message is not as required.
func judge(c *call, src *chat.Chat, md *rawjson.Object, state *isolate.Facts, at int) error {
	if len(c.opt.Require) == 0 {
		return nil
	}
	book, err := judgedBook(c, src, md)
	if err != nil {
		return err
	}
	broken, err := autorecap.Judge(c.opt.Require, autorecap.State{At: at, Scene: state.Recap().Scene(), Metadata: md, Book: book})
	if err != nil || len(broken) == 0 {
		return err
	}
	return fmt.Errorf("not as %w at message %d: %s", ErrRequirement, at, strings.Join(broken, "; "))
}

// judgedBook returns the chat's lorebook, nil if it has none or the lorebook is missing.
func judgedBook(c *call, src *chat.Chat, md *rawjson.Object) (*lorebook.Book, error) {
	name, ok := lorebook.NameIn(md)
	if !ok {
		return nil, nil
	}
	if !src.HasDir {
		return nil, fmt.Errorf("%w, so the queue in its lorebook %q cannot be read", ops.ErrNoUserFolder, name)
	}
	book, err := c.book(src.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		return nil, nil
	}
	return book, err
}

// keepRecap protects an Auto-Recap store in a chat without a parent: without main_chat the
// extension erases a recap whose chat_id is not the chat's (FORMATS.md B2.1).
func keepRecap(src *chat.Chat, name string, md *rawjson.Object, r *Result) {
	if _, ok := autorecap.RunningIn(md); !ok {
		return
	}
	if name == "" {
		r.Warn("%s: without main_chat Auto-Recap erases the recap in the new chat, unless its chat_id is the name the file gets", src.Label())
		return
	}
	if autorecap.SetRunningChat(md, name) {
		r.Warn("%s: without main_chat Auto-Recap would erase the recap in the new chat, so its chat_id is set to %q", src.Label(), name)
	}
}
