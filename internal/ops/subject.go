package ops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
)

// Demand is what a verb demands of a chat up to its header.
type Demand int

// The demands.
const (
	Anything   Demand = iota // the verb judges damage itself
	Whole                    // no line is damaged
	WithHeader               // likewise, and there is a header
)

var (
	// ErrNoHeader means that a chat has no header.
	ErrNoHeader = error(&Kind{Code: "refused", Text: "the chat has no header", Hint: "header"})
	// ErrNoUserFolder means that a chat is outside any user folder, so no lorebook can be looked up.
	ErrNoUserFolder = error(&Kind{Text: "the chat is not in a SillyTavern user folder", Hint: "data"})
	// ErrNotInPlace means that standard input cannot be edited.
	ErrNotInPlace = error(&Kind{Code: "refused", Text: "a chat is edited in place, so it must be a file"})
)

// Subject is the open chat that a verb is about, and what lies around it. It must be closed.
type Subject struct {
	*chat.Chat
	lib *library.Library
}

// Open opens a chat that a verb is about. It refuses one that does not meet the demand, and one
// in a user folder whose data Luker keeps in a database.
func Open(ctx context.Context, lib *library.Library, path string, demand Demand, opt chat.Options) (*Subject, error) {
	opt.Groups = lib
	c, err := chat.Open(ctx, path, opt)
	if err != nil {
		return nil, PathError(err)
	}
	s := &Subject{c, lib}
	if err := s.judge(demand); err != nil {
		c.Close()
		return nil, err
	}
	return s, nil
}

func (s *Subject) judge(demand Demand) error {
	if s.HasDir {
		if err := InFiles(s.lib, s.Dir, s.Label()); err != nil {
			return err
		}
	}

	switch {
	case demand >= Whole && s.Damage.Total > 0: // a damaged header too
		return s.DamageError(s.Damage.First[0])
	case demand >= WithHeader && s.HeaderKind == chat.None && s.Body == s.Source.Size:
		return s.Errorf("the file is empty")
	case demand >= WithHeader && s.HeaderKind == chat.None:
		return s.Errorf("%w", ErrNoHeader)
	}
	return nil
}

// InFiles returns an error about what is shown as label if Luker keeps the data of a user folder
// in a database: its files are only copies then. The error wraps a [*luker.DatabaseError].
func InFiles(lib *library.Library, dir userdir.Dir, label string) error {
	if reason := lib.Database(dir); reason != "" {
		return fmt.Errorf("%s: %w", label, &luker.DatabaseError{Reason: reason})
	}
	return nil
}

// Sidecars returns what Luker keeps beside the file that the chat's path leads to.
func (s *Subject) Sidecars() ([]luker.Sidecar, error) {
	file := userdir.Follow(s.Path)
	folder := s.lib.Folder(filepath.Dir(file))
	if err := folder.Err; err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, PathError(err)
	}
	return folder.Sidecars(userdir.ChatName(file)), nil
}

// AnyOfLuker reports whether one of the chats is Luker's: it has sidecars.
func AnyOfLuker(chats []string) bool {
	lib := new(library.Library)
	return slices.ContainsFunc(chats, func(path string) bool {
		file := userdir.Follow(path)
		return len(lib.Folder(filepath.Dir(file)).Sidecars(userdir.ChatName(file))) > 0
	})
}

// Sidecar is a file beside a chat of Luker, and what became of it.
type Sidecar struct {
	Path   string `json:"path" is:"path"`
	Action string `json:"action"`
}

// SyncSlugs drafts a chat's new slug in its chat_sync, if that is among its sidecars: there Luker
// looks first (FORMATS.md A1.6).
func SyncSlugs(s *changeset.Set, sidecars []luker.Sidecar, slug string, now time.Time, about string) error {
	for _, sidecar := range sidecars {
		if sidecar.Kind != luker.ChatSync {
			continue
		}
		fresh := changeset.Bytes(func([]byte) ([]byte, error) { return luker.SyncData(slug, now.UnixMilli()), nil })
		if err := s.Edit(sidecar.Path, safefile.Stamp{}, fresh, about); err != nil {
			return err
		}
	}
	return nil
}

// NewSlug is what a step says of a chat_sync that follows its chat.
const NewSlug = "the chat's new integrity, where Luker looks first"

// FreshSlug adds a new slug to the edits of a chat that is edited in place, if bump asks for it or
// the chat has sidecars. It also drafts it in the sidecar where Luker looks first.
func FreshSlug(s *changeset.Set, lines chat.Lines, sidecars []luker.Sidecar, bump bool, opt changeset.Options) (chat.Lines, error) {
	if !bump && len(sidecars) == 0 {
		return lines, nil
	}
	slug := opt.NewUUID()
	lines = append(lines, family.HeaderEdit(func(md *rawjson.Object) { md.Set("integrity", rawjson.Quote(slug)) }))
	return lines, SyncSlugs(s, sidecars, slug, opt.Now, NewSlug)
}

// OpenInCard drafts an edit of the card that makes the character whose chat folder has a name open
// with chat, and returns the card as it is.
func OpenInCard(s *changeset.Set, dir userdir.Dir, folder, chat string) (*card.Card, error) {
	c, err := card.Of(dir, folder)
	if err != nil {
		return nil, err
	}
	return c, s.Edit(c.Path, safefile.Stamp{}, card.Edit(c.Path, func(c *card.Card) ([]byte, error) { return c.With(card.Chat(chat)) }), fmt.Sprintf("the chat that is open: %q", chat))
}
