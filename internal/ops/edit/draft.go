package edit

import (
	"cmp"
	"context"
	"slices"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/follow"
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// drafting turns the plan for one chat into a change set.
type drafting struct {
	*open
	plan *Plan
	set  *changeset.Set

	change *follow.Change // what the plan does to messages
	swiped map[int]int    // the newly chosen swipe, by message, where it changes
	state  *follow.State  // what follows in messages; nil: nothing
}

// draft finds what follows from the plan and drafts all of it.
func (d *drafting) draft(ctx context.Context) error {
	o, r := d.open, d.result
	r.Doc.BytesBefore = o.chat.Source.Size
	r.Doc.Integrity = rawjson.TextOrNil(o.chat.Header.Metadata().Value("integrity"))
	for i := range d.plan.Add {
		d.plan.Add[i].Line = withoutGeneration(o, nil, d.plan.Add[i].Line)
	}
	if d.plan.isLines() || o.opt.ExpectMessages >= 0 {
		if _, err := o.count(ctx); err != nil {
			return err
		}
	}
	d.plan.sorted()
	d.change, d.swiped = d.plan.moves(o.messages), map[int]int{}
	lines, left := d.plan.isLines(), d.change.Left()
	if len(d.plan.Delete) > 0 && left == 0 && !o.opt.Force {
		return o.chat.Errorf("%w", ErrAll)
	}
	if err := d.judge(ctx); err != nil {
		return err
	}
	before := o.chat.Header.Metadata().Bytes()
	if d.plan.Metadata != nil {
		if err := o.chat.Header.Change(func(raw []byte) ([]byte, error) {
			return interruptible(ctx, len(raw), func() ([]byte, error) { return d.plan.Metadata(raw) })
		}); err != nil {
			return o.chat.Errorf("%w", err)
		}
		judgeState(o, before)
		judgeBook(o, before)
	}
	metadata := o.chat.Header.Metadata()
	if lines {
		if err := d.followUp(ctx); err != nil {
			return err
		}
		if err := d.recordAddedAndDeleted(); err != nil {
			return err
		}
		if err := d.followInLogs(ctx); err != nil {
			return err
		}
		r.Doc.Messages = &left
	}
	edited := d.plan.isLines()
	if d.plan.Taints && edited && string(metadata.Value("tainted")) != "true" {
		metadata.Set("tainted", []byte("true"))
	}
	if !edited && string(metadata.Bytes()) == string(before) {
		return nil // unchanged
	}
	messages, err := o.count(ctx) // a damaged chat is not edited, not even its metadata alone
	if err != nil {
		return err
	}
	if r.Doc.Messages == nil {
		r.Doc.Messages = &messages
	}
	return d.write(ctx, before)
}

// write drafts the chat and Luker's copy of its slug.
func (d *drafting) write(ctx context.Context, before []byte) error {
	c := d.chat
	metadata := c.Header.Metadata()
	if d.slug != "" {
		d.result.Bumped = true
		metadata.Set("integrity", rawjson.Quote(d.slug))
	}
	d.result.Doc.Integrity = rawjson.TextOrNil(metadata.Value("integrity"))
	var header []byte // the new header; nil: unchanged
	if after := metadata.Bytes(); string(after) != string(before) {
		header = c.Header.Bytes()
		if damage := jsonl.Check(header); damage != nil {
			return d.chat.Errorf("the header would be damaged: %s", damage.Reason)
		}
		if d.showsMore() {
			d.result.diff(chat.HeaderIndex, before, after)
		}
	}
	if d.plan.Save != "" {
		if err := d.save(ctx); err != nil {
			return err
		}
	}
	if d.plan.Before != nil {
		if err := d.plan.Before(d.set); err != nil {
			return err
		}
	}
	draft, err := d.set.Replace(d.chat.Path, d.chat.Stamp, about(d.result))
	if err != nil {
		return err
	}
	if err := d.guarded(ctx, draft, header); err != nil {
		return err
	}
	if d.slug == "" {
		return nil
	}
	for _, s := range d.sidecars {
		if s.Kind == luker.ChatSync {
			d.result.Doc.Sidecars = append(d.result.Doc.Sidecars, ops.Sidecar{Path: s.Path, Action: "fresh"})
		}
	}
	return ops.SyncSlugs(d.set, d.sidecars, d.slug, d.opt.Changes.Now, ops.NewSlug)
}

// recordAddedAndDeleted records the messages that are added and deleted.
func (d *drafting) recordAddedAndDeleted() error {
	doc, gone := &d.result.Doc, 0
	for k, a := range d.plan.Add {
		for gone < len(d.plan.Delete) && d.plan.Delete[gone].Index < a.At {
			gone++
		}
		doc.Added = append(doc.Added, a.At-gone+k)
		if d.showsMore() {
			d.result.diff(a.At, nil, a.Line)
		}
	}
	for _, at := range d.plan.Delete {
		doc.Deleted = append(doc.Deleted, at.Index)
		if d.showsMore() {
			old, err := d.chat.Source.Section(at.Off, at.Len)
			if err != nil {
				return d.chat.Errorf("%w", err)
			}
			d.result.diff(at.Index, old, nil)
		}
	}
	return nil
}

// save drafts a file with the deleted lines.
func (d *drafting) save(ctx context.Context) error {
	if err := ops.JudgeOutput(d.plan.Save, false); err != nil {
		return err
	}
	saved, err := d.set.Create(d.plan.Save, "the messages that go", changeset.Like(d.chat.Stamp))
	if err != nil {
		return err
	}
	return jsonl.Pick(ctx, d.chat.Source, slices.Values(d.plan.Delete), func(at choose.Place) jsonl.Picked { return jsonl.Picked{Off: at.Off, Len: at.Len} },
		func(_ choose.Place, line []byte, batch *[]byte) error {
			*batch = append(append(*batch, line...), '\n')
			return nil
		}, func(batch *[]byte) error {
			_, err := saved.Write(*batch)
			return err
		})
}

// Plan is the changes to make to one chat. All indexes are those before the changes.
type Plan struct {
	Add      []Insertion
	Change   []choose.Place // messages that may change, each once, in order
	Edits    Edits
	Delete   []choose.Place
	Metadata func(metadata []byte) ([]byte, error) // nil: no change

	Taints bool   // SillyTavern would mark the chat as tainted: no longer as its greeting made it
	Save   string // a new file for the deleted lines; "" for none

	Before func(s *changeset.Set) error   // drafts files that messages will name; nil: none
	Guard  func(mark, line []byte) []byte // appends what of a message must be the same afterwards; nil: it is not checked

	swipesGone map[int][]int // deleted swipes by message, from 0, one after the other
}

// Insertion is one message to add.
type Insertion struct {
	At    int          // before the message with this index; the number of messages: at the end
	After choose.Place // the message before that, if At is neither 0 nor the end
	Line  []byte
}

// Edit returns the new state of a message. It must not change line. It may run beside other
// edits, and makes the same of the same line each time: it is made once to see what it changes,
// and once to write it.
type Edit func(line []byte) ([]byte, error)

// Edits begins to make edits, and returns a function that returns the edit of a message: it is
// called for each message in Change, in their order.
type Edits func(ctx context.Context) func(at choose.Place) Edit

// each returns Edits that make the same edit in all messages.
func each(edit Edit) Edits {
	return func(context.Context) func(choose.Place) Edit { return func(choose.Place) Edit { return edit } }
}

// isLines reports whether the plan concerns messages, not just the metadata.
func (p *Plan) isLines() bool { return len(p.Add)+len(p.Change)+len(p.Delete) > 0 }

// moves returns which messages are deleted and added, for the state that follows.
func (p *Plan) moves(messages int) *follow.Change {
	c := &follow.Change{Messages: messages, Edited: map[int][]byte{}}
	for _, d := range p.Delete {
		c.Gone = append(c.Gone, d.Index)
	}
	for _, a := range p.Add {
		visible := message.Visible(rawjson.Value(a.Line, "is_system"), func() []byte {
			return rawjson.Value(a.Line, "extra", "tool_invocations")
		})
		c.Inserted = append(c.Inserted, follow.Insert{At: a.At, Visible: visible, Extra: rawjson.Value(a.Line, "extra")})
	}
	return c
}

// add adds a line before message at. The last of the messages before is that before it, unless
// the new one comes first or last.
func (p *Plan) add(at int, before []choose.Place, line []byte) {
	i := Insertion{At: at, Line: line}
	if len(before) > 0 {
		i.After = before[len(before)-1]
	}
	p.Add = append(p.Add, i)
}

// insertAt returns the index of the message before which one is added; at below 0 is counted
// from the end.
func insertAt(at, messages int) (int, error) {
	index := at
	if at < 0 {
		index += messages
	}
	if index < 0 || index > messages {
		return 0, &choose.OutOfRangeError{At: at, Messages: messages}
	}
	return index, nil
}

// swipeGoes records that a swipe of a message is deleted; both count from 0.
func (p *Plan) swipeGoes(message, swipe int) {
	if p.swipesGone == nil {
		p.swipesGone = map[int][]int{}
	}
	p.swipesGone[message] = append(p.swipesGone[message], swipe)
}

// sorted sorts additions and deletions into the chat's order.
func (p *Plan) sorted() {
	slices.SortStableFunc(p.Add, func(a, b Insertion) int { return cmp.Compare(a.At, b.At) })
	slices.SortFunc(p.Delete, func(a, b choose.Place) int { return cmp.Compare(a.Index, b.Index) })
	p.Delete = slices.CompactFunc(p.Delete, func(a, b choose.Place) bool { return a.Index == b.Index })
}
