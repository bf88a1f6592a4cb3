package lost

import (
	"bytes"
	"context"
	"os"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/sillytavern/chat"
)

// EachInFile calls do with the line of each message of a chat file, under whatever name, and its
// number. Damaged lines are passed over.
func EachInFile(ctx context.Context, path string, do func(number int, raw []byte) error) error {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	src := jsonl.Source{R: f, Size: info.Size()}
	head, err := jsonl.ReadHead(ctx, src)
	if err != nil || head.Line == nil {
		return err
	}

	opt, _ := behindHeader(head, jsonl.NewKeys())
	number := 0
	err = jsonl.Each(ctx, src, opt, func(l *jsonl.Line, _ jsonl.Base) error {
		if l.Damage != nil {
			return nil
		}
		number++
		return do(number-1, l.Raw)
	})
	if err != nil {
		return &os.PathError{Op: "read", Path: path, Err: err}
	}
	return nil
}

// EachInStore is [EachInFile] for a version in a history.
func EachInStore(ctx context.Context, s *history.Store, v *history.Version, do func(number int, raw []byte) error) error {
	runs, err := v.Runs()
	if err != nil {
		return err
	}
	number, first := 0, true
	for line, err := range s.Lines(ctx, runs) {
		if err != nil {
			return err
		}
		raw := bytes.TrimSpace(line.Data)
		isHead := first && meta.IsHeader(raw)
		first = false
		if isHead || !jsonl.Valid(raw) {
			continue
		}
		if err := do(number, raw); err != nil {
			return err
		}
		number++
	}
	return nil
}

// StoredLines reads the messages of versions in a history, each line once.
type StoredLines struct {
	Store *history.Store

	known map[int64]storedLine // by the piece that is the line
}

// storedLine is what is known of a line.
type storedLine struct {
	Line
	head bool // it is a header, if it comes first
	none bool // it is no message
}

// Version returns the messages of a version.
func (r *StoredLines) Version(ctx context.Context, v *history.Version) ([]Line, error) {
	if r.known == nil {
		r.known = map[int64]storedLine{}
	}
	runs, err := v.Runs()
	if err != nil {
		return nil, err
	}
	var list []Line
	isFirst := true
	err = r.each(ctx, runs, func(l storedLine) {
		isHead := isFirst && l.head
		isFirst = false
		if !isHead && !l.none {
			list = append(list, l.Line)
		}
	})
	return list, err
}

// each calls do with every line of runs.
func (r *StoredLines) each(ctx context.Context, runs []history.Run, do func(storedLine)) error {
	for some := range lineRuns(runs) {
		if some[0].Part == history.Whole {
			if err := r.readWhole(ctx, some[0]); err != nil {
				return err
			}
			for id := some[0].First; id < some[0].First+some[0].Count; id++ {
				do(r.known[id])
			}
			continue
		}

		for line, err := range r.Store.Lines(ctx, some) {
			if err != nil {
				return err
			}
			do(readStored(line.Data))
		}
	}
	return nil
}

// readWhole reads those lines of a run of whole ones that are not known yet.
func (r *StoredLines) readWhole(ctx context.Context, run history.Run) error {
	for stretch := range unread(run, r.has) {
		for line, err := range r.Store.Lines(ctx, []history.Run{stretch}) {
			if err != nil {
				return err
			}
			r.known[line.Piece] = readStored(line.Data)
		}
	}
	return nil
}

func (r *StoredLines) has(id int64) bool {
	_, has := r.known[id]
	return has
}

// readStored reads a line of a history.
func readStored(data []byte) storedLine {
	raw := bytes.TrimSpace(data)
	if !jsonl.Valid(raw) {
		return storedLine{none: true}
	}
	return storedLine{Line: ReadLine(raw), head: meta.IsHeader(raw)}
}
