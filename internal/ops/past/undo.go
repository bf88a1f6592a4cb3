// Package past holds undo, with its records.
package past

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// Options says what to take back.
type Options struct {
	Root    string // a user folder, or the folder of chats that are in none
	ID      string // of the record; empty: the newest that can be undone
	Force   bool   // take the rest back if files were changed since, and leave those
	Changes changeset.Options
}

// Undone describes what was taken back: the document of undo.
type Undone struct {
	Schema   int      `json:"schema"`
	Root     string   `json:"root" is:"path"`
	ID       string   `json:"id"`
	Command  []string `json:"command"`
	Restored []string `json:"restored"` // files that are as they were
	Removed  []string `json:"removed"`  // files that the change had made
	Left     []string `json:"left"`     // files that were changed since, and stay as they are
	Opens    []Opens  `json:"opens"`    // cards and groups that open with another chat now
	Redo     *string  `json:"redo"`     // the ID to pass to undo to redo the change
	DryRun   bool     `json:"dry_run"`
	ops.Written

	Time   time.Time `json:"-"`
	Undoes string    `json:"-"` // the ID of the record that the record took back; "" for that of a command
}

// Opens says which chat a card or group opens with.
type Opens struct {
	Path string `json:"path" is:"path"`
	Chat string `json:"chat"`
}

// Result is the result of an undo.
type Result = ops.Result[Undone]

// Undo takes back a record or, with opt.Force, a change that was begun elsewhere and not ended. The
// error wraps [changeset.ErrNothing] if there is nothing to take back.
func Undo(ctx context.Context, opt Options) (*Result, error) {
	adopt := ""
	if opt.Force {
		adopt = opt.ID
	}
	ended, err := changeset.Adopt(ctx, opt.Root, adopt, opt.Changes)
	if err != nil {
		return nil, err
	}
	r := newResult(opt, ended)
	d := &r.Doc
	isMeant := func(e changeset.Ended) bool { return opt.ID != "" && e.ID == opt.ID && e.Result != changeset.Forward }
	made := slices.ContainsFunc(ended, func(e changeset.Ended) bool { return e.ID == opt.ID && e.Result == changeset.Forward })
	if i := slices.IndexFunc(ended, isMeant); i >= 0 && (!made || ended[i].Result != changeset.Back) { // else other sets of it were completed, and can be taken back
		e := ended[i]
		r.Ended = slices.DeleteFunc(ended, isMeant)
		switch {
		case e.Result == changeset.Foreign:
			return r, e.Err
		case e.Result == changeset.Stuck, e.Result == changeset.Pending && !opt.Force:
			return r, &changeset.StuckError{ID: e.ID, Err: e.Err}
		}
		d.ID, d.Command = e.ID, append(d.Command, e.Command...)
		d.Left = append(d.Left, e.Left...)
		for _, path := range e.Left {
			r.Warn("%s: was changed since, and stays as it is", path)
		}
		d.Written = ops.WrittenBy(r.Outcome)
		return r, nil
	}

	err = takeBack(ctx, opt, r, nil)
	if errors.Is(err, changeset.ErrNoRecord) {
		begun, _ := changeset.Unfinished(ctx, opt.Root)
		if i := slices.IndexFunc(begun, isMeant); i >= 0 {
			err = begun[i].Err
		}
	}
	return r, err
}

// KeptBy returns the ID of the newest command that took a chat away and can be undone, "" for none. asked is its
// path, or OWNER/NAME.
func KeptBy(root, asked string) string {
	records, _, _ := changeset.Records(root) // what cannot be read of them names no chat
	asked = strings.TrimSuffix(filepath.ToSlash(asked), names.Extension)
	for _, rec := range records {
		if rec.Undone || rec.Undoes != "" {
			continue
		}
		for _, s := range rec.Steps() {
			name, isChat := strings.CutSuffix(s.Path, names.Extension)
			isIt := name == asked || strings.HasSuffix(name, "/"+asked) || strings.HasSuffix(asked, "/"+name)
			if isChat && isIt && s.Do == changeset.Remove {
				return rec.ID
			}
		}
	}
	return ""
}

// UndoTo takes back the record opt.ID and all later ones, the newest first, each by itself. It stops at
// the first that cannot be taken back: the Err of its result, the last one, or err says why. err wraps
// [changeset.ErrNoRecord] or [changeset.ErrUndone] if there is nothing to take back.
func UndoTo(ctx context.Context, opt Options) ([]*Result, error) {
	ended, err := changeset.Recover(ctx, opt.Root, opt.Changes)
	if err != nil {
		return nil, err
	}
	ids, err := changeset.UndoTo(opt.Root, opt.ID)
	return takeBackAll(ctx, opt, ids, ended, err)
}

// takeBackAll takes back several records, one after the other, unless err says why not. The first result
// tells of what dead runs had begun.
func takeBackAll(ctx context.Context, opt Options, ids []string, ended []changeset.Ended, err error) (results []*Result, _ error) {
	if err != nil {
		return []*Result{{Outcome: changeset.Outcome{Ended: ended}}}, err
	}
	var assumed *changeset.Assumed
	if opt.Changes.DryRun && len(ids) > 1 {
		assumed = new(changeset.Assumed)
	}
	for i, id := range ids {
		r := newResult(opt, ended)
		ended = nil
		opt.Changes.MoreFollows = i < len(ids)-1 // room is made once all have what they need
		results = append(results, r)
		opt.ID = id
		err := takeBack(ctx, opt, r, assumed)
		if err != nil || r.Err != nil {
			return results, err
		}
		opt.Changes.With = cmp.Or(opt.Changes.With, r.ID)
	}
	return results, nil
}

func newResult(opt Options, ended []changeset.Ended) *Result {
	return &Result{Outcome: changeset.Outcome{Ended: ended}, Doc: Undone{Schema: 1, Root: opt.Root, DryRun: opt.Changes.DryRun}}
}

// takeBack takes back a record. Where assumed is set, it only tells what that would do.
func takeBack(ctx context.Context, opt Options, r *Result, assumed *changeset.Assumed) error {
	d := &r.Doc
	u, err := changeset.Undo(opt.Root, opt.ID, opt.Force)
	if err != nil {
		return err
	}
	u.SavedAgain = savedAgain
	u.Since = begunSince
	u.Needs = needs
	u.Keep = keepListed

	d.Opens = opensAgain(opt.Root, u)
	d.ID = u.Record.ID
	d.Command = append(d.Command, u.Record.Command...)
	d.Time = u.Record.Time
	d.Undoes = u.Record.Undoes

	ended := r.Ended
	if assumed != nil {
		r.Steps, r.Err = u.Rehearse(ctx, assumed)
	} else {
		r.Outcome = changeset.Run(ctx, []changeset.Unit{u.Unit}, opt.Changes)[0]
	}

	r.Ended = ended // Run only saw those that Recover could not end
	if r.Err != nil {
		return nil
	}

	if len(r.Steps) == 0 {
		return fmt.Errorf("%s: %w that was not changed since: %s", d.ID, changeset.ErrNothing, strings.Join(u.Left, ", "))
	}
	for _, s := range r.Steps {
		if s.Do == changeset.Remove {
			d.Removed = append(d.Removed, s.Path)
		} else {
			d.Restored = append(d.Restored, cmp.Or(s.To, s.Path))
		}
	}

	d.Left = slices.Concat(d.Left, u.Left, u.Needed)
	for _, path := range u.Needed {
		r.Warn("%s: belongs to a chat that was changed since, and stays as it is", path)
	}
	for _, path := range u.Left {
		r.Warn("%s: was changed since, and stays as it is", path)
		d.Opens = slices.DeleteFunc(d.Opens, func(o Opens) bool { return o.Path == path })
	}

	d.Written = ops.WrittenBy(r.Outcome)
	d.Redo = d.Operation
	return nil
}

// Listed is a record in the list of records.
type Listed struct {
	Schema  int      `json:"schema"`
	ID      string   `json:"id"`
	Time    string   `json:"time"` // RFC 3339
	Command []string `json:"command"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Undone  bool     `json:"undone"`

	At time.Time `json:"-"`
}

// List returns the records of a root, the newest first. errs are of records that could not be read.
func List(dir string) (list []Listed, errs []error, err error) {
	records, errs, err := changeset.Records(dir)
	return listed(records...), errs, err
}

func listed(records ...changeset.Record) (list []Listed) {
	for _, rec := range records {
		list = append(list, Listed{1, rec.ID, rec.Time.UTC().Format(time.RFC3339), rec.Command, rec.Files, rec.Bytes, rec.Undone, rec.Time})
	}
	return list
}

// PruneOptions says which records to drop: those that one or more of its fields select.
type PruneOptions struct {
	Root    string
	ID      string    // this one
	Before  time.Time // those of before; zero: none
	Keep    int       // all but this many of the newest; below 0: none
	Changes changeset.Options
}

// Prune drops records with what was kept for them, and returns those dropped. A record that
// opt.ID names may also be one that cannot be read.
func Prune(ctx context.Context, opt PruneOptions) ([]Listed, error) {
	records, _, err := changeset.Records(opt.Root)
	if err != nil {
		return nil, err
	}
	goes := map[string]bool{}
	for i, rec := range records {
		goes[rec.ID] = rec.ID == opt.ID || opt.Keep >= 0 && i >= opt.Keep || rec.Time.Before(opt.Before)
	}
	if opt.ID != "" && !goes[opt.ID] {
		rec, err := changeset.Discard(ctx, opt.Root, opt.ID, opt.Changes)
		if err != nil {
			return nil, err
		}
		return listed(rec), nil
	}

	dropped, err := changeset.Prune(ctx, opt.Root, opt.Changes, func(rec changeset.Record) bool { return goes[rec.ID] })
	return listed(dropped...), err
}

// savedAgain reports whether a chat that a command made has no message of its own: nobody went
// on with it, though it was saved again since.
func savedAgain(ctx context.Context, path string) bool {
	if !userdir.HasExtension(path) {
		return false
	}
	c, err := chat.Open(ctx, path, chat.Options{})
	if err != nil {
		return false
	}
	defer c.Close()
	if c.Damage.Total > 0 || c.Header == nil {
		return false
	}
	if c.Body == c.Source.Size { // it is its header
		return true
	}
	parent, _ := rawjson.Unquote(c.Metadata().Value("main_chat"))
	from, err := userdir.Within(filepath.Dir(path), parent, names.Extension)
	if parent == "" || err != nil {
		return false
	}
	source, err := chat.Open(ctx, from, chat.Options{})
	if err != nil {
		return false
	}
	defer source.Close()
	own, err := chat.OwnMessages(ctx, source, c)
	return err == nil && own == 0 && source.Damage.Total == 0
}

// begunSince returns the file of a chat that a step only put into its group's list, if
// SillyTavern has made it since.
func begunSince(path, about string) []string {
	name, ok := group.BegunIn(about)
	if !ok {
		return nil
	}
	chats := userdir.Dir{Root: filepath.Dir(filepath.Dir(path))}.GroupChats()
	file, err := userdir.Within(chats, name, names.Extension)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []string{file}
}

// needs reports whether one of the chats that are left has the file at path beside it as a
// sidecar, or names it as its lorebook.
func needs(ctx context.Context, path string, left []string) bool {
	for _, file := range left {
		if !userdir.HasExtension(file) {
			continue
		}
		if filepath.Dir(path) == filepath.Dir(file) && strings.HasPrefix(filepath.Base(path), userdir.ChatName(file)+".luker-") {
			return true
		}
		if filepath.Base(filepath.Dir(path)) != "worlds" {
			continue
		}
		c, err := chat.Open(ctx, file, chat.Options{})
		if err != nil {
			continue
		}
		book, _ := rawjson.Unquote(c.Metadata().Value("world_info"))
		c.Close()
		if book != "" && filepath.Base(path) == book+".json" {
			return true
		}
	}
	return false
}

// keepListed returns an edit that keeps in a group's list what it lists of the chats that are left.
func keepListed(path string, left []string) func(old []byte) ([]byte, error) {
	if !isGroup(path) {
		return nil
	}
	now, err := group.Load(path)
	if err != nil {
		return nil
	}
	var list []string
	for _, file := range left {
		if name := userdir.ChatName(file); userdir.HasExtension(file) && now.Lists(name) {
			list = append(list, name)
		}
	}

	if len(list) == 0 {
		return nil
	}
	return func(old []byte) ([]byte, error) {
		applied, err := (&group.Edit{Path: path, List: list}).Apply(old)
		return applied.Listed, err
	}
}

// opensAgain returns the cards and groups that open with another chat once a record is taken back.
func opensAgain(root string, u *changeset.Undoing) (list []Opens) {
	for _, s := range u.Record.Steps() {
		file := filepath.Join(root, filepath.FromSlash(s.Path))
		if s.Kept == "" || s.Do != changeset.Replace || !isGroup(file) && path.Dir(s.Path) != "characters" {
			continue
		}
		was, ok := opensWith(filepath.Join(root, userdir.Own, s.Kept), file)
		now, ok2 := opensWith(file, file)
		if ok && ok2 && was != now && !slices.ContainsFunc(list, func(o Opens) bool { return o.Path == file }) {
			list = append(list, Opens{file, was})
		}
	}
	return list
}

func isGroup(path string) bool {
	return filepath.Base(filepath.Dir(path)) == "groups" && strings.EqualFold(filepath.Ext(path), ".json")
}

// mostCard is the size, in bytes, of the largest card or group file that is looked into.
const mostCard = 64 << 20

// opensWith returns the chat that a card or group opens with, by the content of a file.
func opensWith(file, path string) (name string, ok bool) {
	raw, err := safefile.ReadPlain(file, mostCard)
	if err != nil {
		return "", false
	}
	if isGroup(path) {
		g, err := group.Parse(path, raw)
		if err != nil {
			return "", false
		}
		return g.ChatID, true
	}

	c, err := card.Parse(raw, path)
	if err != nil {
		return "", false
	}
	return c.Chat, true
}
