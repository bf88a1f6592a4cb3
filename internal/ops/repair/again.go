package repair

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/follow"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/choose"
)

// repeated is a chat that has its header once more, or several times.
type repeated struct {
	header   []byte
	body     int64 // where its messages begin, without damaged lines
	messages int
	copies   []int            // their indexes among the messages
	call     bool             // there is a tool call directly before one of them
	damaged  []rawjson.Splice // takes the damaged lines out
}

// keepsCopies returns why the copies of a chat's header must not go, "" if they may. SillyTavern counts
// them as messages, so what extensions keep would then be about other messages than before.
func (p *planner) keepsCopies(ctx context.Context, c *rules.Chat) (reason string, err error) {
	file, src, err := openJudged(c)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if one := p.byPath[c.Path]; one != nil {
		src = one.view.over(src)
	}
	found, err := findCopies(ctx, src)
	if err != nil || len(found.copies) == 0 {
		return "", err
	}

	isCounted, err := found.moveState(ctx, src)
	if err == nil && !isCounted {
		isCounted, err = logsReach(p.checker.Lookup.Folder(c.Folder).Sidecars(c.Name), found.copies[0])
	}
	if err != nil || !isCounted {
		return "", err
	}
	var numbers []string
	for _, index := range found.copies {
		numbers = append(numbers, strconv.Itoa(index))
	}
	const text = "misplaced-header: what extensions keep counts the header inside the chat as a message; `stchat delete CHAT %s` deletes it and adjusts that"
	reason = fmt.Sprintf(text, strings.Join(numbers, ","))
	if found.call {
		reason += ", but takes the tool calls before it along"
	}
	return reason, nil
}

// findCopies finds the copies of the header.
func findCopies(ctx context.Context, src jsonl.Source) (*repeated, error) {
	r := &repeated{}
	cut := int64(0)
	var last []byte // the last message
	err := jsonl.Each(ctx, src, jsonl.MapOptions{Keys: jsonl.NewKeys()}, func(l *jsonl.Line, _ jsonl.Base) error {
		line := bytes.TrimRight(l.Raw, "\r")
		switch {
		case l.Damage != nil:
			r.damaged = append(r.damaged, rawjson.Splice{At: l.Off, Len: int64(len(l.Raw))})
			cut += int64(len(l.Raw))
		case r.header == nil:
			r.body = l.Off + int64(len(l.Raw)) - cut
			r.header = bytes.Clone(line)
		default:
			if meta.IsHeader(line) && bytes.Equal(line, r.header) {
				r.copies = append(r.copies, r.messages)
				r.call = r.call || isToolCall(last)
			}
			r.messages++
			last = append(last[:0], line...)
		}
		return nil
	})
	return r, err
}

// isToolCall reports whether a message holds tool calls, so that delete takes it along with the reply
// behind it.
func isToolCall(message []byte) bool {
	calls := rawjson.Value(message, "extra", extension.KeyTools)
	return rawjson.KindOf(calls) == rawjson.Array && rawjson.Truthy(rawjson.Value(message, "is_system"))
}

// moveState reports whether what extensions keep in the metadata and in the messages would have to follow
// if the copies went.
func (r *repeated) moveState(ctx context.Context, src jsonl.Source) (moves bool, err error) {
	header, err := meta.Parse(r.header)
	if err != nil {
		return false, nil // without metadata there is no state
	}
	whole := (&view{splices: r.damaged}).over(src)
	metadata := header.Metadata()
	change := &follow.Change{Messages: r.messages, Gone: r.copies}
	state, err := follow.Look(ctx, choose.Source{Source: whole, Body: r.body}, change, metadata, nil)
	if err != nil {
		return false, err
	}

	state.Metadata(metadata)
	if metadata.Edited() {
		return true, nil
	}
	for _, place := range state.Lines() {
		line, err := whole.Section(place.Off, place.Len)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(state.Line(place.Index, line), line) {
			return true, nil
		}
	}
	return false, nil
}

// logsReach reports whether one of Luker's floor logs is about a message at or behind an index.
func logsReach(sidecars []luker.Sidecar, first int) (reaches bool, err error) {
	for _, s := range sidecars {
		if s.Kind != luker.FloorLog {
			continue
		}
		file, err := os.Open(s.Path)
		if err != nil {
			return false, ops.PathError(err)
		}
		_ = luker.EachCommit(file, func(c *luker.Commit) error { // one that cannot be read is left to a person
			if c.Floor >= first {
				reaches = true
				return io.EOF
			}
			return nil
		})
		_ = file.Close() // it was only read
	}
	return reaches, nil
}
