package cut

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"stchat/internal/change/changeset"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plural"
)

// maxPlaces is how many places of last messages a copy remembers. A message counted from
// further back is found by counting the messages first.
const maxPlaces = 10_000

// copyTo copies the messages to w and returns where the last one is; with a nil w it only
// reads. If the index of the last message is not known yet, all messages are copied and the
// caller truncates the copy.
func copyTo(ctx context.Context, opt *Options, w io.Writer, src *chat.Chat, known lastMessage) (jsonl.Copied, error) {
	limit, places := known.index+1, 1
	if known.index < 0 && opt.At < 0 {
		limit, places = -1, -opt.At
	} else if known.index < 0 {
		limit = min(opt.At, math.MaxInt-1) + 1
	}

	copied, err := jsonl.Copy(ctx, w, src.Source, copyOptions(opt, src, limit, places))
	if err := readError(src, err); err != nil {
		return copied, err
	}
	needed := limit
	if limit < 0 {
		needed = places
	}
	if copied.Lines < needed {
		return copied, outOfRange(opt, src, copied.Lines)
	}
	return copied, nil
}

func copyOptions(opt *Options, src *chat.Chat, limit, places int) jsonl.CopyOptions {
	return jsonl.CopyOptions{
		From: src.Body, Line: src.BodyLine, Limit: limit, Last: places, Skip: opt.SkipDamaged,
		Workers: opt.workers(), Progress: opt.Meter.Follow(),
	}
}

// readError returns the error of reading a source, nil if there was none and the source is
// unchanged since it was opened.
func readError(src *chat.Chat, err error) error {
	if d, ok := errors.AsType[*jsonl.Damage](err); ok {
		return src.DamageError(*d)
	}
	if err != nil {
		return src.Errorf("%w", err)
	}
	return src.Unchanged()
}

// outOfRange returns the error of an At that the chat does not have.
func outOfRange(opt *Options, src *chat.Chat, messages int) error {
	if messages == 0 {
		return src.Errorf("the chat has no messages")
	}
	return src.Errorf("%w", &choose.OutOfRangeError{At: opt.At, Messages: messages})
}

// writeChat writes the header and the messages, truncates what was copied beyond the last
// message, and returns where that one is in the source.
func writeChat(ctx context.Context, opt *Options, out *changeset.Draft, j *job, header []byte) (jsonl.Place, error) {
	if _, err := out.Write(header); err != nil {
		return jsonl.Place{}, err
	}
	start := out.Size()
	copied, err := copyTo(ctx, opt, out, j.src, j.last)
	if err != nil {
		return jsonl.Place{}, err
	}
	end := copied.Last[0]
	report(j.src, copied, j.last, j.res)

	size := start + end.Out + end.Len
	var line []byte // the edited message, in place of the one that was copied
	if opt.Message != nil {
		size -= end.Len
		line, err = edited(opt, j.src, end)
		if err != nil {
			return end, err
		}
	}

	if size < out.Size() {
		err = out.Truncate(size)
	}
	if err == nil {
		_, err = out.Write(line)
	}
	j.res.Doc.Bytes = out.Size()
	return end, err
}

// edited returns the last message with the requested edit made.
func edited(opt *Options, src *chat.Chat, at jsonl.Place) ([]byte, error) {
	line, err := src.Source.Section(at.Off, at.Len)
	if err != nil {
		return nil, src.Errorf("%w", err)
	}
	if err := src.Unchanged(); err != nil {
		return nil, err // the line was read again after the copy checked the file
	}
	isLast, err := endsAt(src, at.Off+at.Len)
	if err != nil {
		return nil, err
	}
	line, err = opt.Message(&SourceMessage{Index: at.Index, IsLast: isLast, Line: line, Metadata: src.Metadata()})
	if err != nil {
		return nil, fmt.Errorf("%s:%d: message %d: %w", src.Label(), at.Line, at.Index, err)
	}
	return line, nil
}

// endsAt reports whether nothing but a little white space follows an offset in a source.
func endsAt(src *chat.Chat, off int64) (bool, error) {
	const little = 64
	rest := src.Source.Size - off
	if rest > little {
		return false, nil
	}
	end, err := src.Source.Section(off, rest)
	if err != nil {
		return false, src.Errorf("%w", err)
	}
	return len(bytes.TrimSpace(end)) == 0, nil
}

// report notes damage that was left out, and invalid UTF-8 in the lines that were kept. If the
// last message was counted from the end, damage after it is noted too: the message that was
// meant may be among it.
func report(src *chat.Chat, copied jsonl.Copied, known lastMessage, r *Result) {
	r.Doc.At = copied.Last[0].Index
	r.Doc.Messages = r.Doc.At + 1
	skipped := copied.Skipped
	if known.whole {
		skipped = known.damage
	}
	r.Doc.skip(skipped)
	for _, d := range skipped.First {
		if d.SillyTavernKeeps {
			r.Warn("%s:%d: SillyTavern keeps this line as a broken message, so its message numbers are one higher from here on", src.Label(), d.Line)
		}
	}

	bad := copied.BadUTF8
	for _, p := range copied.Last[1:] {
		if p.BadUTF8 {
			bad-- // after the last message
		}
	}

	const after = "they are kept as they are, and SillyTavern writes U+FFFD for them at its next save"
	if bad > 0 {
		r.Warn("%s: bytes that are not valid UTF-8 in %s, first in message %d; %s", src.Label(), plural.S(bad, "message"), copied.BadAt, after)
	}
	if src.BadUTF8 {
		r.Warn("%s:%d: bytes that are not valid UTF-8 in the header; %s", src.Label(), src.HeaderLine, after)
	}
}

// prepareStream validates everything, since output cannot be taken back, and returns a function
// that writes the chat to standard output.
func prepareStream(ctx context.Context, opt *Options, j *job, header []byte) (func(context.Context) error, error) {
	src := j.src
	copied, err := copyTo(ctx, opt, nil, src, j.last)
	if err != nil {
		return nil, err
	}
	end := copied.Last[0]
	report(src, copied, j.last, j.res)

	limit := end.Index + 1
	size := int64(len(header)) + end.Out + end.Len
	var line []byte // the edited message, which is written after the others
	if opt.Message != nil {
		line, err = edited(opt, src, end)
		if err != nil {
			return nil, err
		}
		size += int64(len(line)) - end.Len
		limit--
	}

	j.res.Doc.Bytes = size
	if opt.Changes.DryRun {
		j.res.Tell(ops.Fact{Kind: ops.FactStdout, Count: j.res.Doc.Messages, Of: int(size)})
	}
	return func(ctx context.Context) error {
		if _, err := opt.Stdout.Write(header); err != nil {
			return err
		}
		_, err = jsonl.Copy(ctx, opt.Stdout, src.Source, copyOptions(opt, src, limit, 0))
		if err := readError(src, err); err != nil || line == nil {
			return err
		}
		_, err = opt.Stdout.Write(append([]byte{'\n'}, line...))
		return err
	}, nil
}
