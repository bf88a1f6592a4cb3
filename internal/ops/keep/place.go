package keep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/history"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// Where the store and its word index are in a user's folder.
const (
	storeFolder = userdir.Own
	storeFile   = "history.db"
	indexFile   = "search.db"
)

// Errors in what a caller names. An error names the path, too.
var (
	// ErrLoose means that chats are in no user's folder, so their store is not known.
	ErrLoose = errors.New("lies in no SillyTavern user folder, so there is no place for its history")
	// ErrUsers means that a SillyTavern has several users, of which one must be named.
	ErrUsers = errors.New("SillyTavern has several users here; name the folder of one of them")
	// ErrSeveral means that one store was named for several folders.
	ErrSeveral = errors.New("one history belongs to one folder")
	// ErrUnknown means that neither the store nor a backup has a version of a chat.
	ErrUnknown = errors.New("no version of this chat is kept")
)

// StoreOf returns the path of a user folder's store, or named if that is not empty.
func StoreOf(root, named string) string {
	if named != "" {
		return named
	}
	return filepath.Join(root, storeFolder, storeFile)
}

// openToWrite opens the store of a root, and creates it if there is none. In a dry run it
// creates nothing.
func openToWrite(ctx context.Context, root, named string, now time.Time, dryRun bool) (*history.Store, error) {
	path := StoreOf(root, named)
	if dryRun {
		s, err := history.OpenDry(ctx, path, root, now)
		return s, ops.PathError(err)
	}
	if named == "" {
		if _, err := changeset.MakeFolder(root); err != nil {
			return nil, ops.PathError(err)
		}
	} else if info, err := os.Stat(filepath.Dir(named)); err != nil {
		return nil, ops.PathError(err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", filepath.Dir(named))
	}
	s, err := history.OpenWrite(ctx, path, root, now)
	return s, ops.PathError(err)
}

// relative returns a path as the store has it: relative to root, with slashes. It is an
// error if the path is outside of root.
func relative(root, path string) (string, error) {
	for _, of := range []func(string) (string, error){filepath.Abs, func(p string) (string, error) { return userdir.RealPath(p), nil }} {
		dir, err := of(root)
		if err != nil {
			return "", err
		}
		// the folder alone: the file may be a link, or gone
		folder, err := of(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		rel, err := filepath.Rel(dir, filepath.Join(folder, filepath.Base(path)))
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", fmt.Errorf("%s: lies outside of %s", path, root)
}
