package keep

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/changeset"
	"stchat/internal/group"
	"stchat/internal/history"
	"stchat/internal/luker"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// sidecar is one of Luker's files as of a version.
type sidecar struct {
	path string
	data []byte
}

// create drafts a sidecar that does not exist.
func (c sidecar) create(set *changeset.Set) error {
	d, err := set.Create(c.path, lukerState, changeset.InFolder())
	if err != nil {
		return err
	}
	_, err = d.Write(c.data)
	return err
}

const lukerState = "Luker's state of that time"

// putBack drafts a sidecar as it was, in place of the present one if there is one.
func (c sidecar) putBack(set *changeset.Set) error {
	if _, err := os.Lstat(c.path); errors.Is(err, fs.ErrNotExist) {
		return c.create(set)
	}
	return set.Edit(c.path, safefile.Stamp{}, changeset.Bytes(func([]byte) ([]byte, error) { return c.data, nil }), lukerState)
}

// companions finds what belongs to a chat besides its file.
type companions struct{ of *subject }

// sidecars returns the chat's sidecars as of a version in the store; none for a backup.
func (c companions) sidecars(ctx context.Context, v *version) ([]sidecar, error) {
	if v.file != "" {
		return nil, nil
	}
	_, owner, name := history.Place(c.of.rel)
	all, err := c.of.store.Chats(ctx)
	if err != nil {
		return nil, err
	}
	var list []sidecar
	for i := range all {
		kept := &all[i]
		if ns := sidecarOf(kept.Name, name); kept.Kind != history.Sidecar || kept.Owner != owner || ns == "" {
			continue
		}
		data, ok, err := c.asOf(ctx, kept.ID, v)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, sidecar{filepath.Join(filepath.Dir(c.of.path), kept.Name), data})
		}
	}
	return list, nil
}

// sidecarOf returns the namespace of a file if it is a sidecar of the chat, else "".
func sidecarOf(file, name string) (namespace string) {
	for _, found := range luker.Among([]string{file}, "", name) {
		return found.Namespace
	}
	return ""
}

// asOf returns what a small file held when a version was taken, false if the store has no
// version of it that is as old.
func (c companions) asOf(ctx context.Context, id int64, v *version) ([]byte, bool, error) {
	list, err := c.of.store.Versions(ctx, id)
	if err != nil {
		return nil, false, err
	}
	for i := range slices.Backward(list) {
		if !list[i].At.After(v.At) {
			var b bytes.Buffer
			err := c.of.store.WriteTo(ctx, &b, &list[i])
			return b.Bytes(), true, err
		}
	}
	return nil, false, nil
}

// listing returns the path of the group file that lists the chat, or once did; "" for none.
func (c companions) listing(ctx context.Context) (string, error) {
	if kind, _ := userdir.KindOf(c.of.path); kind != userdir.Group {
		return "", nil
	}
	dir, name := userdir.Dir{Root: c.of.root}, userdir.ChatName(c.of.path)
	set, err := group.LoadAll(dir.Groups())
	if err != nil {
		return "", err
	}
	if now := set.Listing(name); len(now) > 0 {
		return now[0].Path, nil
	}
	all, err := c.of.store.Chats(ctx)
	if err != nil {
		return "", err
	}
	for i := range all {
		kept := &all[i]
		path := filepath.Join(c.of.root, filepath.FromSlash(kept.Path()))
		if _, err := os.Lstat(path); kept.Kind != history.Members || err != nil {
			continue
		}
		versions, err := c.of.store.Versions(ctx, kept.ID)
		if err != nil {
			return "", err
		}
		for k := range slices.Backward(versions) {
			var b bytes.Buffer
			if err := c.of.store.WriteTo(ctx, &b, &versions[k]); err != nil {
				return "", err
			}
			if f, err := group.Parse(path, b.Bytes()); err == nil && slices.Contains(f.Chats, name) {
				return path, nil
			}
		}
	}
	return "", nil
}
