package merge

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// ErrZip means that a zip is not a user folder's, or holds a name that could lead out of it.
var ErrZip = error(&ops.Kind{Code: "refused", Text: "not merged"})

// maxEntries is how many entries a zip may have.
const maxEntries = 1_000_000

func isZip(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zip") }

// unpacked merges a user folder. It and the base may be in a zip each.
func (r *Result) unpacked(ctx context.Context, opt *Options) error {
	r.Doc.Left = leftOut(os.DirFS(opt.From))
	zips := map[string]string{} // by the temporary folder, which is nobody's business
	for _, path := range []*string{&opt.From, &opt.Base} {
		name := *path
		if !isZip(name) {
			continue
		}
		to, err := safefile.Unpack()
		if err != nil {
			return ops.PathError(err)
		}
		defer func() { _ = to.Close() }() // a folder of temporary files
		left, err := unpack(ctx, name, to)
		if err != nil {
			return ops.PathError(fmt.Errorf("%s: %w", name, err))
		}
		if path == &opt.From {
			r.Doc.Left = left
			opt.label = cmp.Or(opt.label, labelOf(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))))
		}
		zips[to.Dir] = name
		*path = to.Dir
	}

	err := r.user(ctx, opt)
	named := func(text string) string {
		for dir, name := range zips {
			text = strings.ReplaceAll(text, dir, name)
		}
		return text
	}

	r.nameSources(named)
	if err != nil {
		err = &zipError{named(err.Error()), err}
	}
	return err
}

// nameSources puts the names of zips into the rows, where the folders are named into which these were unpacked.
func (r *Result) nameSources(named func(text string) string) {
	for _, row := range r.Rows {
		row.From = named(row.From)
		if row.Error != nil {
			text := named(*row.Error)
			row.Error = &text
			row.Err = &zipError{text, row.Err}
		}
		for i := range row.Told {
			row.Told[i] = named(row.Told[i])
		}
	}
}

// zipError is an error about a zip, and not about the folder into which it was unpacked.
type zipError struct {
	text string
	err  error
}

func (e *zipError) Error() string { return e.text }
func (e *zipError) Unwrap() error { return e.err }

// unpack unpacks what is merged of the user folder in a zip, and returns what is not.
func unpack(ctx context.Context, name string, to *safefile.Unpacking) (left []string, err error) {
	z, err := zip.OpenReader(name)
	info, errStat := os.Stat(name)
	if err := cmp.Or(err, errStat); err != nil {
		return nil, err
	}
	defer z.Close()
	prefix, taken, err := takenEntries(z.File, info.Size())
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(z, path.Join(prefix, "luker-storage.sqlite")); err == nil {
		return nil, &luker.DatabaseError{Reason: "luker-storage.sqlite is in it: Luker keeps this user's data in a database, and the files are only copies"}
	}
	for _, f := range taken {
		err := ctx.Err()
		if err == nil {
			err = unpackEntry(f, prefix, to)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, ops.PathError(err))
		}
	}

	below, err := fs.Sub(z, path.Clean(prefix))
	return leftOut(below), err
}

// unpackEntry unpacks one file.
func unpackEntry(f *zip.File, prefix string, to *safefile.Unpacking) error {
	entry, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = entry.Close() }() // only read from
	return to.Add(filepath.FromSlash(strings.TrimPrefix(f.Name, prefix)), entry, int64(f.UncompressedSize64))
}

// takenEntries returns the entries that are merged, of a user folder at the root or one folder
// down, and what the names in that begin with. It refuses a zip in which one of them could lead
// elsewhere, or that holds too much for its size.
func takenEntries(files []*zip.File, size int64) (prefix string, list []*zip.File, err error) {
	if len(files) > maxEntries {
		return "", nil, fmt.Errorf("%w: it has more than %d entries", ErrZip, maxEntries)
	}
	prefix, err = userFolderIn(files)
	if err != nil {
		return "", nil, err
	}
	seen := map[string]bool{}
	room := ops.UnpackingOf(size)
	for _, f := range files {
		place, inside := strings.CutPrefix(slashed(f), prefix)
		if !inside || strings.HasSuffix(place, "/") || !isMerged(place) {
			continue
		}
		key := names.FoldNFC(place)
		why := cmp.Or(unsafeEntry(f, place), room.Refuses(f))
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

// leftOut returns what a user folder has and is never merged.
func leftOut(folder fs.FS) []string {
	has := func(name string) bool { _, err := fs.Stat(folder, name); return err == nil }
	found := []string{}
	for _, never := range [][]string{ // what it is, and where
		{"settings, personas, tags", "settings.json"},
		{"secrets", "secrets.json"},
		{"presets", "OpenAI Settings", "TextGen Settings", "KoboldAI Settings", "NovelAI Settings", "instruct", "context", "sysprompt", "QuickReplies"},
		{"vectors", "vectors"},
		{"extensions", "extensions"},
		{"backups", "backups"},
	} {
		if slices.ContainsFunc(never[1:], has) {
			found = append(found, strings.Split(never[0], ", ")...)
		}
	}
	return found
}
