package ops

import (
	"context"
	"fmt"

	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// run makes the new chat of one source, and publishes it with the lorebook and
// the sidecars that it needs.
func (j *cutJob) run(ctx context.Context) {
	defer j.Meter.Done()
	if j.res.Err != nil {
		j.chat.Close()
		return
	}
	if err := j.open(ctx); err != nil {
		j.fail(err)
		return
	}
	defer j.chat.Close()
	j.fail(j.make(ctx))
}

// open opens the source. Standard input can be read once: it stays open from
// planning to running.
func (j *cutJob) open(ctx context.Context) (err error) {
	if j.path == chat.Stdin && j.chat != nil {
		return nil
	}
	j.chat, err = chat.Open(ctx, j.path, chat.Options{Data: j.Data, Groups: j.groups, Stdin: j.Stdin})
	if err != nil {
		return pathError(err)
	}
	if j.counted && !j.chat.Stamp.Same(j.stamp) {
		defer j.chat.Close()
		return j.chat.Errorf("%w", jsonl.ErrChanged)
	}
	j.stamp = j.chat.Stamp
	return nil
}

// count finds the index of the last message where a name needs it.
func (j *cutJob) count(ctx context.Context) error {
	if err := j.open(ctx); err != nil {
		return err
	}
	defer j.chat.Close()
	copied, err := j.copy(ctx, nil)
	j.counted, j.damage = true, copied.Skipped
	return err
}

// make does the work between opening and closing.
func (j *cutJob) make(ctx context.Context) error {
	if err := j.judgeHead(); err != nil {
		return err
	}
	if err := j.planLuker(); err != nil {
		return err
	}
	if err := j.planGroup(); err != nil {
		return err
	}
	if err := j.planLink(); err != nil {
		return err
	}
	facts, err := j.scanState(ctx)
	if err != nil {
		return err
	}
	header, err := j.header(facts)
	if err != nil {
		return err
	}
	if j.target == Stdout {
		return j.toStdout(ctx, header)
	}
	return j.toFile(ctx, header)
}

// judgeHead refuses, or reports, what is wrong up to the header.
func (j *cutJob) judgeHead() error {
	c, r := j.chat, j.res
	for _, d := range c.Damage {
		if !j.SkipDamaged {
			return j.damaged(d)
		}
		r.skip(d)
	}
	switch {
	case c.HeaderKind == chat.Damaged && c.Header == nil:
		r.warn("%s: the first line is damaged: if it was the header, the chat's metadata (lorebook, author's note, parent, variables, what extensions keep) is lost; it counts as {}", c.Label())
	case c.HeaderKind == chat.Damaged:
		r.warn("%s: chat_metadata is not an object: the chat's metadata is lost; it counts as {} (the header's other keys are kept)", c.Label())
	}
	switch {
	case c.Kind == userdir.Group && len(c.Groups) == 0:
		unless := ""
		if err := j.unread(); err != nil {
			if c.HeaderKind == chat.None && !j.SkipDamaged {
				return c.Errorf("the chat has no header, so its metadata may be in this group file, which cannot be read: %w; mend that, or let the metadata count as {} with --skip-damaged", err)
			}
			unless = fmt.Sprintf("; unless it is this one, which cannot be read: %v", err)
		}
		r.warn("%s: no group lists this chat: SillyTavern shows neither it nor the new one%s", c.Label(), unless)
	case c.Kind == userdir.Group && len(c.Groups) > 1:
		r.warn("%s: %d groups list this chat; the new one goes to %s", c.Label(), len(c.Groups), c.Groups[0].Path)
	}
	if c.HeaderKind == chat.None && c.Kind != userdir.Group && c.Body < c.Source.Size {
		r.warn("%s: the chat has no header: SillyTavern takes its first line for one, so its message numbers are one lower", c.Label())
	}
	return nil
}

// unread is the error of a group file that could not be read, nil where there
// is none: it may be the one that lists the chat.
func (j *cutJob) unread() error {
	if !j.chat.HasDir {
		return nil
	}
	set, err := j.groups.In(j.chat.Dir)
	if err != nil || len(set.Bad) == 0 {
		return nil // opening the chat has told
	}
	return pathError(set.Bad[0])
}

// damaged makes the error of a damaged line.
func (j *cutJob) damaged(d jsonl.Damage) error {
	return fmt.Errorf("%w; see 'stchat check', or leave such lines out with --skip-damaged", &jsonl.LineError{Path: j.chat.Label(), Damage: d})
}

// header gives the new chat's first line.
func (j *cutJob) header(facts *isolate.Facts) ([]byte, error) {
	h := j.chat.OutputHeader()
	if err := j.editMetadata(h, facts); err != nil {
		return nil, j.chat.Errorf("%w", err)
	}
	md := h.Metadata()
	j.setParent(md)
	switch j.Integrity {
	case IntegrityKeep:
	case IntegrityNone:
		md.Unset("integrity")
	case IntegrityNew:
		md.Set("integrity", rawjson.Quote(j.NewUUID()))
	default:
		md.Set("integrity", rawjson.Quote(j.Integrity))
	}
	j.res.MainChat = stringAt(md, "main_chat")
	j.res.Integrity = stringAt(md, "integrity")
	h.Complete()
	line := h.Bytes()
	if d := jsonl.Check(line); d != nil {
		return nil, j.chat.Errorf("the new header would be damaged: %s", d.Reason) // nested too deep by --set or --merge
	}
	return line, nil
}

// setParent names the source as the new chat's parent.
func (j *cutJob) setParent(md *rawjson.Object) {
	parent := j.chat.Name
	if j.MainChat != nil {
		parent = *j.MainChat
	}
	if parent != "" {
		md.Set("main_chat", rawjson.Quote(parent))
		return
	}
	md.Unset("main_chat")
	j.orphan(md)
}

// stringAt gives a metadata value that is a string.
func stringAt(md *rawjson.Object, key string) *string {
	raw, _ := md.Get(key)
	if s, ok := rawjson.Unquote(raw); ok {
		return &s
	}
	return nil
}
