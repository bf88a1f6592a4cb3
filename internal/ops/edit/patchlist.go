package edit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/choose"
)

// PatchOptions says which RFC 6902 patch to apply to a chat's list of messages.
type PatchOptions struct {
	Options
	Patch []patch.Operation
}

// ApplyPatch applies a patch to the list of messages, one operation after the other, as Luker's
// /api/chats/patch does: add, remove, replace and test. An add of a message equal to the one
// already there changes nothing, like a test.
func ApplyPatch(ctx context.Context, opt PatchOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		l := &patchedList{open: o, lines: map[int][]byte{}}
		var err error
		l.chat, err = o.list(ctx, scanning{speakers: true})
		for i := range l.chat {
			l.list = append(l.list, i)
		}
		for i := 0; i < len(opt.Patch) && err == nil; i++ {
			if err = ctx.Err(); err == nil {
				err = l.apply(&opt.Patch[i])
			}
			if err != nil {
				err = o.chat.Errorf("operation %d, %s: %w", i, opt.Patch[i].Op, err)
			}
		}
		if err != nil {
			return nil, err
		}
		return l.plan()
	})
}

// patchedList is a list of messages that a patch is applied to.
type patchedList struct {
	open  *open
	chat  []choose.Place
	list  []int          // indexes in the chat; below 0: -1 for the first that was added, and so on
	lines map[int][]byte // those added or changed, by what the list holds
	added int
}

func (l *patchedList) apply(op *patch.Operation) error {
	if op.Op == "move" || op.Op == "copy" {
		return fmt.Errorf("%w: Luker knows only add, remove, replace and test", patch.ErrMalformed)
	}
	if len(op.Path) == 0 {
		return fmt.Errorf("%w: the path names no message", patch.ErrMalformed)
	}
	end := op.Path[0] == "-"
	at, ok := patch.Index(op.Path[0])
	if end {
		at = len(l.list)
	}
	switch {
	case !ok && !end:
		return fmt.Errorf("%w: %q is not a message number", patch.ErrMalformed, op.Path[0])
	case at > len(l.list), at == len(l.list) && (op.Op != "add" || len(op.Path) > 1):
		return fmt.Errorf("%s: %w", op.Path, patch.ErrMissing)
	case at == len(l.list):
		return l.insert(at, op.Value)
	}

	line, err := l.line(at)
	if err != nil {
		return err
	}
	switch {
	case len(op.Path) > 1:
		inner := *op
		inner.Path = op.Path[1:]
		line, err := patch.Apply(line, []patch.Operation{inner})
		if failed, ok := errors.AsType[*patch.OperationError](err); ok {
			err = fmt.Errorf("message %d: %w", at, failed.Err)
		}
		l.lines[l.list[at]] = line
		return err
	case op.Op == "remove":
		l.list = slices.Delete(l.list, at, at+1)
	case op.Op == "replace":
		l.lines[l.list[at]] = op.Value
	case metadiff.Equal(line, op.Value):
	case op.Op == "test":
		return patch.ErrTest
	default:
		return l.insert(at, op.Value)
	}
	return nil
}

// insert adds a message.
func (l *patchedList) insert(at int, object []byte) error {
	line, err := l.completed(object)
	l.list = slices.Insert(l.list, at, -l.added)
	l.lines[-l.added] = line
	return err
}

// completed returns an object as the line of a new message.
func (l *patchedList) completed(object []byte) ([]byte, error) {
	l.added++
	return l.open.speakers.completed(object, l.open.opt.Changes.Now.Add(time.Duration(l.added-1)*time.Millisecond))
}

// line returns a message in its current state.
func (l *patchedList) line(at int) ([]byte, error) {
	if line, ok := l.lines[l.list[at]]; ok {
		return line, nil
	}
	p := l.chat[l.list[at]]
	return l.open.chat.Source.Section(p.Off, p.Len)
}

// plan returns the changes that the patch amounts to.
func (l *patchedList) plan() (*Plan, error) {
	p := &Plan{Taints: true, Edits: func(context.Context) func(at choose.Place) Edit {
		return func(at choose.Place) Edit {
			return func(line []byte) ([]byte, error) { return judged(line, l.lines[at.Index]) }
		}
	}}

	next := 0 // of the chat's messages
	for at, i := range l.list {
		if i < 0 {
			line, err := l.completed(l.lines[i]) // operations may have changed it since it came
			if err != nil {
				return nil, l.open.chat.Errorf("message %d: %w", at, err)
			}
			p.add(next, l.chat[:next], line)
			continue
		}
		p.Delete = append(p.Delete, l.chat[next:i]...)
		next = i + 1
		if l.lines[i] != nil {
			p.Change = append(p.Change, l.chat[i])
		}
	}

	p.Delete = append(p.Delete, l.chat[next:]...)
	return p, nil
}

// decoded is a part of a raw text that can be decoded.
type decoded struct {
	text  []byte
	begin int   // where it begins in the raw text
	at    []int // see [decode]
}

// in returns where in the raw text a byte of the part begins, or where the next one would.
func (d *decoded) in(i int) int {
	if d.at == nil {
		return d.begin + i
	}
	return d.begin + d.at[i]
}

// decodedParts yields the parts of a raw text without its quotes that can be decoded; at least one, which
// may be empty.
func decodedParts(body []byte) iter.Seq[*decoded] {
	return func(yield func(*decoded) bool) {
		begin := 0
		for {
			text, at, size := decode(body[begin:])
			if !yield(&decoded{text, begin, at}) {
				return
			}
			begin += size
			for begin < len(body) {
				skipped := undecodable(body[begin:])
				if skipped == 0 {
					break
				}
				begin += skipped
			}

			if begin >= len(body) {
				return
			}
		}
	}
}

// decode decodes the front of a raw text, as far as it can be decoded, and returns how much that is.
// at is where in the raw text each byte of text begins, and where the next one would; nil if all
// stand for themselves.
func decode(body []byte) (text []byte, at []int, size int) {
	if rawjson.Plain(body) == len(body) {
		return body, nil, len(body)
	}
	text, at = make([]byte, 0, len(body)), make([]int, 0, len(body)+1)
	for size < len(body) {
		longer, n := appendNext(text, body[size:])
		if n == 0 {
			break
		}
		for i := range longer[len(text):] {
			at = append(at, size+min(i, n-1)) // inside an escape nothing begins
		}
		text, size = longer, size+n
	}
	return text, append(at, size), size
}

// appendNext appends what stands at the front of a raw text: characters that stand for
// themselves, or one that is escaped. size is how many raw bytes that were: 0 at a byte that is
// not UTF-8 and at half a surrogate pair.
func appendNext(text, raw []byte) (_ []byte, size int) {
	if size = rawjson.Plain(raw); size > 0 {
		return append(text, raw[:size]...), size
	}
	if raw[0] != '\\' {
		return text, 0
	}
	longer, size := rawjson.AppendEscape(text, raw)
	if !utf8.Valid(longer[len(text):]) {
		return text, 0
	}
	return longer, size
}

// undecodable returns the size of what stands at the front of a raw text and matches nothing: a
// byte that is not UTF-8, or half a surrogate pair; 0 if it is neither.
func undecodable(raw []byte) int {
	_, size := appendNext(nil, raw)
	switch {
	case size > 0:
		return 0
	case raw[0] == '\\':
		return len(`\uXXXX`)
	}
	return 1
}
