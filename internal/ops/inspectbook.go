package ops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/folder/inspect"
	"stchat/internal/folder/library"
	"stchat/internal/lorebook"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/progress"
)

// InspectBooksOptions says which lorebooks InspectBooks reports, and to which callback.
type InspectBooksOptions struct {
	Paths []string
	Meter *progress.Meter

	// Each is called with every lorebook's report, or with the *SourceError that prevented it, in the
	// order of the paths. It is also called with the errors of chats that may name a lorebook.
	Each func(*inspect.Book, error) error
}

// InspectBooks reports what lorebooks hold, and which chats of their user folder name them. The error is ctx's
// or the callback's.
func InspectBooks(ctx context.Context, opt InspectBooksOptions) error {
	named := map[string]bookChats{} // by the real path of the user folder
	for _, path := range opt.Paths {
		book, err := readBook(path)
		if err != nil {
			if err := opt.Each(nil, &SourceError{Path: path, Err: err}); err != nil {
				return err
			}
			continue
		}

		if dir, ok := userdir.AroundBook(path); ok {
			root := userdir.RealPath(dir.Root)
			if _, known := named[root]; !known {
				if named[root], err = opt.readChats(ctx, dir); err != nil {
					return err
				}
			}
			book.Chats = named[root][filepath.Base(path)]
			book.ChatTotal = new(len(book.Chats))
		}
		if err := opt.Each(book, nil); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// IsBook reports whether a path is that of a lorebook: of a file in a worlds folder, which may be missing or
// damaged, or of one that can be read as a lorebook.
func IsBook(path string) bool {
	if !strings.EqualFold(filepath.Ext(path), lorebook.Extension) || userdir.IsDir(path) {
		return false
	}
	if _, ok := userdir.AroundBook(path); ok {
		return true
	}
	_, err := lorebook.Open(path)
	return err == nil
}

// readBook returns what a lorebook holds. That it cannot be parsed is part of the report, not an error.
func readBook(path string) (*inspect.Book, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, lorebook.ErrMissing)
	case err != nil:
		return nil, PathError(err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	}

	stored := library.ReadBook(path)
	_, isDamaged := errors.AsType[*lorebook.NotReadableError](stored.Err)
	if stored.Err != nil && !isDamaged {
		return nil, PathError(stored.Err)
	}
	name := strings.TrimSuffix(filepath.Base(path), lorebook.Extension)
	return &inspect.Book{Schema: inspect.Schema, Path: path, Bytes: info.Size(), Lorebook: *inspect.Describe(name, stored)}, nil
}

// bookChats holds the chats of a user folder that name its lorebooks, by the file names of these.
type bookChats map[string][]inspect.BookChat

// readChats finds out which chats of a user folder name which lorebooks. Only their headers are read.
func (o *InspectBooksOptions) readChats(ctx context.Context, dir userdir.Dir) (bookChats, error) {
	walked := Walk(List{Paths: []string{dir.Root}, AllowEmpty: true})
	around := new(library.Library)
	type header struct {
		chat  inspect.BookChat
		books []string
		err   error
	}
	headers := make([]header, len(walked.Chats))
	o.Meter.Expect(len(headers), 0)
	progress.Each(ctx, len(headers), func(i int) {
		defer o.Meter.Done()
		h := &headers[i]
		t := walked.Chats[i]
		c, err := chat.Open(ctx, t.Path, chat.Options{Groups: around, Regular: true, Any: true})
		if err != nil {
			h.err = &SourceError{Path: t.Path, Err: PathError(err)}
			return
		}
		defer c.Close()
		h.chat = inspect.BookChat{Path: c.Path, Name: c.Name}
		if c.Owner != "" {
			h.chat.Owner = new(strings.Clone(c.Owner)) // not a pointer into the chat, which would stay in memory
		}
		h.books = inspect.BooksOf(around, dir, c)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	for _, err := range walked.Errors() {
		if err := o.Each(nil, err); err != nil {
			return nil, err
		}
	}
	named := bookChats{}
	for _, h := range headers {
		if h.err != nil {
			if err := o.Each(nil, h.err); err != nil {
				return nil, err
			}
			continue
		}
		for _, path := range h.books {
			file := filepath.Base(path)
			named[file] = append(named[file], h.chat)
		}
	}
	return named, nil
}
