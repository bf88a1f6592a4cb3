package cut

import (
	"context"
	"io"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/plural"
)

// prepareStream validates everything, since output cannot be taken back, and returns a function
// that writes the chat to standard output.
func prepareStream(ctx context.Context, c *call, p *plan, src *chat.Chat, header []byte, known last, r *Result) (func(context.Context) error, error) {
	opt := c.opt
	copied, err := copyTo(ctx, opt, nil, src, known)
	if err != nil {
		return nil, err
	}
	end := copied.Last[0]
	report(src, copied, known, r)
	var line []byte
	r.Doc.Bytes = int64(len(header)) + end.Out + end.Len
	if opt.Message != nil {
		if line, err = edited(opt, src, end); err != nil {
			return nil, err
		}
		r.Doc.Bytes += int64(len(line)) - end.Len
	}
	limit := end.Index + 1
	if line != nil {
		limit-- // it is written after the others
	}
	if opt.Changes.DryRun {
		r.Note("would write %s to standard output, %d bytes", plural.S(r.Doc.Messages, "message"), r.Doc.Bytes)
	}
	return func(ctx context.Context) error {
		src, err := c.open(ctx, p)
		if err != nil {
			return err
		}
		defer c.release(src)
		if _, err := opt.Stdout.Write(header); err != nil {
			return err
		}
		if err := copyFirst(ctx, opt, opt.Stdout, src, limit); err != nil || line == nil {
			return err
		}
		_, err = opt.Stdout.Write(append([]byte{'\n'}, line...))
		return err
	}, nil
}

// copyFirst copies the first limit messages, which have been validated.
func copyFirst(ctx context.Context, opt *Options, w io.Writer, src *chat.Chat, limit int) error {
	_, err := jsonl.Copy(ctx, w, src.Source, copyOptions(opt, src, limit, 0))
	return readError(src, err)
}
