package bring

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"stchat/internal/change/safefile"
	"stchat/internal/ops"
	"stchat/internal/text/plural"
)

// errEntry means that an entry of a zip is not read.
var errEntry = error(&ops.Kind{Code: "refused", Text: "is not read"})

// unzip copies the conversations in a zip, each conversations*.json at its root or one folder
// down, to private files. What it cannot read is in the error; the others are returned.
func (c *call) unzip(ctx context.Context, s *source) (list []*source, err error) {
	z, err := zip.NewReader(s.file, s.stamp.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.label, err)
	}
	var errs []error
	room := ops.UnpackingOf(s.stamp.Size())
	others := 0
	for _, f := range z.File {
		dir, base := path.Split(f.Name)
		isFolder := base == ""
		if ok, _ := path.Match("conversations*.json", base); !ok || !isNear(dir) {
			if !isFolder {
				others++
			}
			continue
		}

		label := s.label + "/" + f.Name
		entry, err := spool(ctx, f, room)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", label, err))
			continue
		}
		entry.label, entry.mtime = label, s.mtime
		list = append(list, entry)
	}

	if len(list)+len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: %w: there is no conversations.json in it", s.label, errEntry))
	}
	if others > 0 && len(list) > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%s: %s in it not read", s.label, plural.Of(others, "other file is", "other files are")))
	}
	return list, errors.Join(errs...)
}

// isNear reports whether a folder is the root or one folder down.
func isNear(dir string) bool {
	dir = path.Clean(dir)
	return dir == "." || dir != "" && dir != ".." && path.Dir(dir) == "."
}

// spool copies an entry to a private file. It reads no more than the entry declares.
func spool(ctx context.Context, f *zip.File, room *ops.Unpacking) (*source, error) {
	if why := room.Refuses(f); why != "" {
		return nil, fmt.Errorf("%w: it %s", errEntry, why)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, cleanup, err := safefile.Spool(io.LimitReader(r, int64(min(f.UncompressedSize64, 1<<62))+1), "")
	if err != nil {
		return nil, err
	}
	s := &source{file: file, close: cleanup}
	if s.stamp, err = safefile.StampOf(file); err == nil && uint64(s.stamp.Size()) != f.UncompressedSize64 {
		err = fmt.Errorf("%w: its length is not the one declared", errEntry)
	}
	if err != nil {
		cleanup()
		return nil, err
	}
	return s, nil
}
