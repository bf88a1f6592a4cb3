package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// sink takes the new chat's bytes.
type sink interface {
	io.Writer
	Truncate(size int64) error
	Offset() int64
}

// discard counts what a dry run would write.
type discard struct{ size int64 }

func (d *discard) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	return len(p), nil
}
func (d *discard) Truncate(size int64) error { d.size = size; return nil }
func (d *discard) Offset() int64             { return d.size }

// limit gives how many messages a copy keeps before it may stop, below 0 all,
// and how many of the last ones it must remember.
func (j *cutJob) limit() (limit, last int) {
	at := j.At
	if j.at >= 0 {
		at = j.at
	}
	if at >= 0 {
		return min(at, math.MaxInt-1) + 1, 1
	}
	return -1, -max(at, -math.MaxInt)
}

// copy copies the messages to w, nil to only look at them, and settles which
// one is the last. With an At below 0 that the chat has not been counted for,
// all messages are copied: the caller cuts back to the last one.
func (j *cutJob) copy(ctx context.Context, w io.Writer) (jsonl.Copied, error) {
	c := j.chat
	limit, last := j.limit()
	copied, err := jsonl.Copy(ctx, w, c.Source, jsonl.CopyOptions{
		From: c.Body, Line: c.BodyLine, Limit: limit, Last: last, Skip: j.SkipDamaged,
		Workers: inner(len(j.jobs)), Progress: j.Meter.Follow(),
	})
	if d, ok := errors.AsType[*jsonl.Damage](err); ok {
		return copied, j.damaged(*d)
	}
	if err != nil {
		return copied, c.Errorf("%w", err)
	}
	if err := c.Unchanged(); err != nil {
		return copied, err
	}
	switch {
	case copied.Lines == 0, limit >= 0 && copied.Lines < limit, limit < 0 && copied.Lines < last:
		return copied, j.outOfRange(copied.Lines)
	}
	j.last = copied.Last[0]
	j.at = j.last.Index
	j.res.At, j.res.Messages = j.at, j.at+1
	return copied, nil
}

// outOfRange is the error of an At that the chat does not have.
func (j *cutJob) outOfRange(messages int) error {
	if messages == 0 {
		return j.chat.Errorf("the chat has no messages")
	}
	return j.chat.Errorf("there is no message %d; the last one is %d", j.At, messages-1)
}

// report notes the damage that was left out, and the strange bytes among the
// lines that were kept. Damage behind the last message matters where that one
// was counted from the end: it may have been the message that was meant.
func (j *cutJob) report(copied jsonl.Copied) {
	skipped := copied.Skipped
	if j.counted {
		skipped = j.damage
	}
	for _, d := range skipped {
		j.res.skip(d)
		if d.SillyTavernKeeps {
			j.res.warn("%s:%d: SillyTavern keeps this line as a broken message, so its message numbers are one higher from here on", j.chat.Label(), d.Line)
		}
	}
	bad := 0
	for _, i := range copied.BadUTF8 {
		if i <= j.at {
			bad++
		}
	}
	const after = "they are kept as they are, and SillyTavern writes U+FFFD for them at its next save"
	if bad > 0 {
		j.res.warn("%s: bytes that are not valid UTF-8 in %s, first in message %d; %s", j.chat.Label(), plural.S(bad, "message"), copied.BadUTF8[0], after)
	}
	if j.chat.BadUTF8 {
		j.res.warn("%s:%d: bytes that are not valid UTF-8 in the header; %s", j.chat.Label(), j.chat.HeaderLine, after)
	}
}

// toFile writes the new chat beside its target and publishes it.
func (j *cutJob) toFile(ctx context.Context, header []byte) error {
	was, err := j.mayTake()
	if err != nil {
		return err
	}
	var out sink = new(discard)
	var temp *safefile.Temp
	if !j.DryRun {
		if temp, err = safefile.New(j.target, safefile.Options{NoSync: j.NoSync}); err != nil {
			return pathError(err)
		}
		defer temp.Discard()
		out = temp
	}
	if err := j.fill(ctx, out, header); err != nil {
		return err
	}
	j.res.Bytes = out.Offset()
	if err := j.mayLink(); err != nil {
		return err
	}
	if err := j.cutSidecars(); err != nil {
		return err
	}
	if j.DryRun {
		j.rehearse(was)
		return nil
	}
	if err := temp.Prepare(); err != nil {
		return pathError(err)
	}
	return j.publish(func() error {
		if was != nil {
			return temp.Replace(*was)
		}
		return temp.Create()
	})
}

// fill writes header and messages, and cuts back what went beyond the last one.
func (j *cutJob) fill(ctx context.Context, out sink, header []byte) error {
	if _, err := out.Write(header); err != nil {
		return pathError(err)
	}
	start := out.Offset()
	copied, err := j.copy(ctx, out)
	if err != nil {
		return pathError(err)
	}
	j.report(copied)
	if j.Swipe >= 0 {
		line, err := j.chosen()
		if err != nil {
			return err
		}
		if err := out.Truncate(start + j.last.Out); err != nil {
			return pathError(err)
		}
		_, err = out.Write(line)
		return pathError(err)
	}
	if end := start + j.last.Out + j.last.Len; end < out.Offset() {
		return pathError(out.Truncate(end))
	}
	return nil
}

// chosen gives the last message with the swipe that was asked for.
func (j *cutJob) chosen() ([]byte, error) {
	line, err := j.chat.Source.Section(j.last.Off, j.last.Len)
	if err != nil {
		return nil, j.chat.Errorf("%w", err)
	}
	if err := j.chat.Unchanged(); err != nil {
		return nil, err // the line is read once more, after the copy looked at the file
	}
	if line, err = message.ChooseSwipe(line, j.Swipe); err != nil {
		return nil, fmt.Errorf("%s:%d: message %d: %w", j.chat.Label(), j.last.Line, j.at, err)
	}
	return line, nil
}

// toStdout validates everything first: what has been printed cannot be taken back.
func (j *cutJob) toStdout(ctx context.Context, header []byte) error {
	copied, err := j.copy(ctx, nil)
	if err != nil {
		return err
	}
	j.report(copied)
	var line []byte
	if j.Swipe >= 0 {
		if line, err = j.chosen(); err != nil {
			return err
		}
	}
	if j.DryRun {
		j.res.Bytes = int64(len(header)) + j.last.Out + j.last.Len
		if line != nil {
			j.res.Bytes += int64(len(line)) - j.last.Len
		}
		j.rehearse(nil)
		return nil
	}
	count := new(discard)
	out := io.MultiWriter(count, j.Stdout)
	return j.publish(func() error {
		defer func() { j.res.Bytes = count.size }()
		if _, err := out.Write(header); err != nil {
			return err
		}
		if line != nil {
			return j.allButLast(ctx, out, line)
		}
		_, err := j.copy(ctx, out)
		return err
	})
}

// allButLast copies the messages in front of the last one, and then line.
func (j *cutJob) allButLast(ctx context.Context, out io.Writer, line []byte) error {
	c := j.chat
	_, err := jsonl.Copy(ctx, out, c.Source, jsonl.CopyOptions{
		From: c.Body, Line: c.BodyLine, Limit: j.at, Skip: j.SkipDamaged,
	})
	if err != nil {
		return c.Errorf("%w", err)
	}
	if err := c.Unchanged(); err != nil {
		return err
	}
	_, err = out.Write(append([]byte{'\n'}, line...))
	return err
}

// mayTake tells whether the target may be written: it is free, or it is a
// file that --force may replace, and then as it was when this was judged.
func (j *cutJob) mayTake() (was *safefile.Stamp, err error) {
	info, err := os.Lstat(j.target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, pathError(err)
	}
	if !j.Force {
		return nil, fmt.Errorf("%s: already exists; choose another name, or --force to make it again", j.target)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder; choose another name", j.target)
	}
	if err := safefile.CanReplace(j.target); err != nil {
		return nil, pathError(err)
	}
	stamp, err := safefile.StampPath(j.target)
	if err != nil {
		return nil, pathError(err)
	}
	if j.Output == "" {
		if err := j.isOurs(); err != nil {
			return nil, err
		}
	}
	return &stamp, nil
}

// isOurs refuses a target that is not a chat made from this source.
func (j *cutJob) isOurs() error {
	old, err := chat.Open(context.Background(), j.target, chat.Options{Data: j.Data, Groups: j.groups})
	if err != nil {
		return pathError(err)
	}
	defer old.Close()
	parent := ""
	if old.Header != nil {
		raw, _ := old.Header.Metadata().Get("main_chat")
		parent, _ = rawjson.Unquote(raw)
	}
	if parent == "" || parent != j.chat.Name {
		return fmt.Errorf("%[1]s: is not a checkpoint or branch of %[2]s (its main_chat is not %[2]s), so --force does not replace it; choose another name", j.target, j.chat.Name)
	}
	return nil
}

// publish puts everything in place, in the order that leaves nothing pointing
// at what does not exist: the lorebook that the chat names, its sidecars, and
// the chat, by what put does. All that can run out of space is written before
// the first of them gets its name. When one fails, those before it are taken
// back.
func (j *cutJob) publish(put func() error) (err error) {
	files := j.luker.files
	if j.book != nil {
		files = append([]lukerFile{{j.book.path, j.book.data}}, files...)
	}
	temps := make([]*safefile.Temp, 0, len(files))
	for _, f := range files {
		t, err := j.written(f.path, f.data)
		if err != nil {
			return pathError(err)
		}
		defer t.Discard()
		temps = append(temps, t)
	}
	defer func() {
		if err == nil {
			return
		}
		for _, t := range temps { // nothing happens to those that were not published
			if e := t.Undo(); e != nil {
				err = fmt.Errorf("%w; %w", err, pathError(e))
			}
		}
	}()
	for _, t := range temps {
		if err := t.Create(); err != nil {
			return pathError(err)
		}
	}
	err = put()
	if unsynced(err) {
		j.fail(err) // it is in place all the same
		err = nil
	}
	j.res.Written = err == nil
	return pathError(err)
}

// written gives a file that is complete but for its name.
func (j *cutJob) written(path string, data []byte) (*safefile.Temp, error) {
	t, err := safefile.New(path, safefile.Options{NoSync: j.NoSync})
	if err != nil {
		return nil, err
	}
	if _, err := t.Write(data); err != nil {
		t.Discard()
		return nil, err
	}
	return t, t.Prepare() // which discards it where it fails
}

// rehearse tells what publish would do.
func (j *cutJob) rehearse(was *safefile.Stamp) {
	if b := j.book; b != nil {
		j.res.would("write %s: the lorebook %q with %s", b.path, b.from.Name, plural.Of(b.entries, "entry", "entries"))
	}
	for _, s := range j.luker.files {
		j.res.would("write %s", s.path)
	}
	verb := "write"
	if was != nil {
		verb = "replace"
	}
	if j.target == Stdout {
		j.res.would("write %s to standard output, %d bytes", plural.S(j.res.Messages, "message"), j.res.Bytes)
	} else {
		j.res.would("%s %s: messages 0 to %d, %d bytes", verb, j.target, j.at, j.res.Bytes)
	}
	j.res.Written = true
}
