package merge

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// ErrZip means that a zip is not a user folder's, or holds a name that could lead out of it.
var ErrZip = error(&ops.Kind{Code: "refused", Text: "not merged"})

// maxEntries is how many entries a zip may have.
const maxEntries = 1_000_000

// zip merges the user folder in a zip. What is not merged is not unpacked.
func (r *Result) zip(ctx context.Context, opt *Options, into userdir.Dir) error {
	z, err := zip.OpenReader(opt.From)
	if err != nil {
		return ops.PathError(fmt.Errorf("%s: %w", opt.From, err))
	}
	defer z.Close()
	info, err := os.Stat(opt.From)
	if err != nil {
		return ops.PathError(err)
	}
	prefix, taken, err := takenEntries(z.File, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", opt.From, err)
	}
	to, err := safefile.Unpack()
	if err != nil {
		return ops.PathError(err)
	}
	defer func() { _ = to.Close() }() // a folder of temporary files
	for _, f := range taken {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry, err := f.Open()
		if err == nil {
			err = to.Add(filepath.FromSlash(strings.TrimPrefix(f.Name, prefix)), entry, int64(f.UncompressedSize64))
			_ = entry.Close() // only read from
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", opt.From, f.Name, ops.PathError(err))
		}
	}
	name := opt.From
	if opt.From = to.Dir; opt.Label == "" {
		opt.Label = labelOf(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	}
	if below, err := fs.Sub(z, path.Clean(prefix)); err == nil {
		r.Doc.Left = leftOut(below)
	}
	err = r.user(ctx, opt, into)
	for _, row := range r.Rows { // the temporary folder is nobody's business
		if rel, err := filepath.Rel(to.Dir, row.From); err == nil {
			row.From = filepath.Join(name, rel)
		}
		if row.Error != nil {
			text := strings.ReplaceAll(*row.Error, to.Dir, name)
			row.Error, row.Err = &text, errors.New(text)
		}
	}
	return err
}

// takenEntries returns the entries that are merged, of a user folder at the root or one folder
// down, and what the names in that begin with. It refuses a zip in which one of them could lead
// elsewhere, or that holds too much for its size.
func takenEntries(files []*zip.File, size int64) (prefix string, list []*zip.File, err error) {
	if len(files) > maxEntries {
		return "", nil, fmt.Errorf("%w: it has more than %d entries", ErrZip, maxEntries)
	}
	if prefix, err = userFolderIn(files); err != nil {
		return "", nil, err
	}
	seen, room := map[string]bool{}, ops.UnpackingOf(size)
	for _, f := range files {
		place, inside := strings.CutPrefix(slashed(f), prefix)
		if !inside || strings.HasSuffix(place, "/") || !isMerged(place) {
			continue
		}
		key, why := names.FoldNFC(place), unsafeEntry(f, place)
		if why == "" {
			why = room.Refuses(f)
		}
		if why == "" && seen[key] {
			why = "is in it twice"
		}
		if why != "" {
			return "", nil, fmt.Errorf("%w: %q %s", ErrZip, f.Name, why)
		}
		seen[key] = true
		list = append(list, f)
	}
	if len(list) == 0 {
		err = fmt.Errorf("%w: it has nothing that is merged", ErrZip)
	}
	return prefix, list, err
}

// slashed returns the name of an entry, however bad, with slashes from the root of the zip on.
func slashed(f *zip.File) string { return strings.TrimLeft(strings.ReplaceAll(f.Name, `\`, "/"), "/") }

// userFolderIn returns what the names of the entries of the only user folder begin with.
func userFolderIn(files []*zip.File) (prefix string, err error) {
	second := ""
	for _, f := range files {
		first, rest, _ := strings.Cut(slashed(f), "/")
		part, _, below := strings.Cut(rest, "/")
		switch {
		case userdir.IsPart(first) && rest != "":
			return "", nil
		case !below || !userdir.IsPart(part) || first == "__MACOSX": // what macOS notes of each file
		case prefix == "":
			prefix = first + "/"
		case first+"/" != prefix:
			second = first + "/"
		}
	}
	switch {
	case prefix == "":
		err = fmt.Errorf("%w: it has no user folder, neither at its root nor one folder down", ErrZip)
	case second != "":
		err = fmt.Errorf("%w: it has several user folders, %s and %s; unpack it and merge one after the other", ErrZip, prefix, second)
	}
	return prefix, err
}

// isMerged reports whether a file at a place of a user folder is merged.
func isMerged(place string) bool {
	folder, rest, _ := strings.Cut(place, "/")
	if folder == "chats" { // of a character
		_, rest, _ = strings.Cut(rest, "/")
	}
	extensions := map[string][]string{
		"chats": {names.Extension, ".json"}, "group chats": {names.Extension, ".json"}, "groups": {".json"}, "worlds": {".json"},
		"characters": {userdir.CardExtension, ".json"},
	}[folder]
	return rest != "" && slices.Contains(extensions, strings.ToLower(path.Ext(rest))) || carried(place)
}

// unsafeEntry returns why an entry cannot be unpacked, "" if it can.
func unsafeEntry(f *zip.File, place string) string {
	switch {
	case strings.HasPrefix(f.Name, "/"):
		return "is an absolute path"
	case strings.ContainsAny(f.Name, `\:`):
		return "has a \\ or a colon"
	case f.Mode()&fs.ModeType != 0:
		return "is not a regular file"
	}
	for part := range strings.SplitSeq(place, "/") {
		if !names.Safe(part) {
			return "has a name that SillyTavern could not have given to a file"
		}
	}
	return ""
}
