package ops

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/lorebook"
	"stchat/internal/luker"
	"stchat/internal/names"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// LorebookOptions says what clone-lorebook makes of its sources.
type LorebookOptions struct {
	Sources  []string // lorebooks (.json), or chats (.jsonl) that name one
	Name     string   // of the clone; empty: numbered as SillyTavern does
	Internal lorebook.Internal
	Drop     []string // globs of comments that are left out
	Rebind   []string // chats that are pointed at the clone, in place

	BumpIntegrity bool   // give those chats a new slug
	Data          string // the user folder
	NoSync        bool
	DryRun        bool

	Now     time.Time
	NewUUID func() string
}

// LorebookResult is one clone: the document of SPEC.md section 7.
type LorebookResult struct {
	Schema   int           `json:"schema"`
	Source   string        `json:"source"`
	Path     string        `json:"path"`
	Name     string        `json:"name"`
	From     string        `json:"from"`
	Entries  int           `json:"entries"`
	Dropped  int           `json:"dropped"`
	Rebound  []string      `json:"rebound"`
	State    []ReboundNote `json:"state"`
	Warnings []string      `json:"warnings"`
	DryRun   bool          `json:"dry_run"`

	Errs    []error  `json:"-"` // why the clone was not written, or a chat not pointed at it
	Written bool     `json:"-"` // the clone is there, or would be
	Actions []string `json:"-"` // what would be written, in order
}

// ReboundNote is one thing that changed in a chat that was pointed at a clone.
type ReboundNote struct {
	Chat      string `json:"chat"`
	Extension string `json:"extension"`
	Change    string `json:"change"`
}

func (r *LorebookResult) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

func (r *LorebookResult) would(format string, args ...any) {
	r.Actions = append(r.Actions, "would "+fmt.Sprintf(format, args...))
}

// ErrRebindAmbiguous says that it cannot be told at which clone a chat is to be
// pointed.
var ErrRebindAmbiguous = errors.New("with several sources a chat to rebind must be one of them, or name the lorebook of just one of them")

// bookCloning is one call of clone-lorebook.
type bookCloning struct {
	*LorebookOptions
	groups *groupCache
	shelf  map[string]*lorebook.Shelf // by real path of the folder
	swept  sweeper
	jobs   []*bookJob
}

// bookJob is one source on its way to a clone.
type bookJob struct {
	res    *LorebookResult
	book   *lorebook.Book
	clone  *lorebook.Book // as it will be in its file
	target string
	chats  []*rebinding
}

// rebinding is one chat on its way to another lorebook.
type rebinding struct {
	path string
	chat *chat.Chat
	name string // of the lorebook it names; empty: none
	sync string // its chat_sync, where it is a Luker chat that has one
	luke bool   // it is a Luker chat
}

// CloneLorebooks clones the lorebook of every source and then points the chats of
// Rebind at their clones, each chat in one replacement; everything is read and
// judged before anything is written. It gives a result a source in their order; an
// error on one stands in its result. The error that CloneLorebooks itself gives is
// about the chats to rebind, and nothing is written then. A clone of which no chat
// could be pointed, though some were to be, does not stay.
func CloneLorebooks(ctx context.Context, opt LorebookOptions) ([]*LorebookResult, error) {
	c := &bookCloning{LorebookOptions: &opt, groups: new(groupCache), shelf: map[string]*lorebook.Shelf{}, swept: sweeper{}}
	for _, source := range opt.Sources {
		j := &bookJob{res: &LorebookResult{
			Schema: 1, Source: source, DryRun: opt.DryRun, Rebound: []string{}, State: []ReboundNote{}, Warnings: []string{},
		}}
		if err := c.prepare(ctx, j); err != nil {
			j.res.Errs = append(j.res.Errs, err)
		}
		c.jobs = append(c.jobs, j)
	}
	chats, err := c.openChats(ctx)
	defer func() {
		for _, r := range chats {
			r.chat.Close()
		}
	}()
	if err == nil {
		err = c.assign(chats)
	}
	if err != nil {
		return nil, err
	}
	for _, j := range c.jobs {
		switch {
		case len(j.res.Errs) > 0:
		case ctx.Err() != nil:
			j.res.Errs = append(j.res.Errs, fmt.Errorf("%s: not begun: %w", j.res.Source, ctx.Err()))
		default:
			c.run(j)
		}
	}
	results := make([]*LorebookResult, len(c.jobs))
	for i, j := range c.jobs {
		results[i] = j.res
	}
	return results, nil
}

// prepare reads a source's lorebook and makes the clone's content and name.
func (c *bookCloning) prepare(ctx context.Context, j *bookJob) error {
	path, err := c.bookPath(ctx, j.res.Source)
	if err != nil {
		return err
	}
	if j.book, err = lorebook.Open(path); err != nil {
		return pathError(err)
	}
	folder := filepath.Dir(path)
	if err := refuseDatabase(path, userdir.Dir{Root: filepath.Dir(folder)}); err != nil {
		return err
	}
	real := realPath(folder)
	shelf := c.shelf[real]
	if shelf == nil {
		if shelf, err = lorebook.OpenShelf(folder); err != nil {
			return pathError(err)
		}
		c.shelf[real] = shelf
		if !c.DryRun {
			c.swept.in(folder)
		}
	}
	name, err := c.nameOf(j.book, shelf)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	made, err := j.book.Clone(lorebook.CloneOptions{Name: name, Internal: c.Internal, Drop: c.Drop})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	j.target = filepath.Join(folder, name+lorebook.Extension)
	if j.clone, err = lorebook.Parse(made.Data, j.target); err != nil {
		return err
	}
	r := j.res
	r.Path, r.Name, r.From, r.Entries, r.Dropped = j.target, name, j.book.Name, made.Entries, made.Dropped
	if c.Name != "" && name != c.Name {
		r.warn("%s: the clone is called %q: %q is taken, or no file can be called so", path, name, c.Name)
	}
	if q, err := j.clone.Queue(); err != nil {
		r.warn("%s: the clone's queue: %v", path, err)
	} else if n := q.Pending(); n > 0 {
		r.warn("%s: the clone has the queue with %s, which would run in every chat that uses it; --internal reset empties it", path, plural.S(n, "pending operation"))
	}
	return nil
}

func (c *bookCloning) nameOf(book *lorebook.Book, shelf *lorebook.Shelf) (string, error) {
	if c.Name != "" {
		return shelf.Given(c.Name)
	}
	return shelf.Duplicate(book.Name)
}

// bookPath gives the path of the lorebook that a source is or names.
func (c *bookCloning) bookPath(ctx context.Context, source string) (string, error) {
	switch strings.ToLower(filepath.Ext(source)) {
	case lorebook.Extension:
		return source, nil
	case names.Extension:
	default:
		return "", fmt.Errorf("%s: is neither a lorebook (.json) nor a chat (.jsonl)", source)
	}
	from, err := chat.Open(ctx, source, chat.Options{Data: c.Data, Groups: c.groups})
	if err != nil {
		return "", pathError(err)
	}
	defer from.Close()
	if from.HeaderKind == chat.Damaged {
		return "", from.Errorf("the header is damaged, so its lorebook is not known; give the lorebook itself, or see 'stchat repair'")
	}
	name, ok := lorebook.NameIn(from.Metadata())
	if !ok {
		return "", from.Errorf("the chat names no lorebook (chat_metadata.world_info)")
	}
	if !from.HasDir {
		return "", from.Errorf("the chat is in no SillyTavern user folder, so its lorebook %q cannot be found; give the folder with --data", name)
	}
	path, err := lorebook.Find(from.Dir.Worlds(), name)
	if err != nil {
		return "", from.Errorf("the lorebook %q that the chat names: %w", name, pathError(err))
	}
	return path, nil
}

// refuseDatabase refuses files that Luker does not read.
func refuseDatabase(path string, dir userdir.Dir) error {
	if reason := luker.InDatabase(dir.Root); reason != "" {
		return fmt.Errorf("%s: %s", path, reason)
	}
	return nil
}

// openChats opens the chats to rebind, each once, and refuses those that could not
// be edited.
func (c *bookCloning) openChats(ctx context.Context) (chats []*rebinding, err error) {
	seen := map[string]bool{}
	for _, path := range c.Rebind {
		if real := names.Fold(realPath(path)); !seen[real] {
			seen[real] = true
			r, err := c.openChat(ctx, path)
			if r != nil {
				chats = append(chats, r)
			}
			if err != nil {
				return chats, err
			}
		}
	}
	return chats, nil
}

func (c *bookCloning) openChat(ctx context.Context, path string) (*rebinding, error) {
	if path == chat.Stdin {
		return nil, errors.New("--rebind: a chat is edited in place, so it must be a file")
	}
	from, err := chat.Open(ctx, path, chat.Options{Data: c.Data, Groups: c.groups})
	if err != nil {
		return nil, pathError(err)
	}
	r := &rebinding{path: path, chat: from}
	switch from.HeaderKind {
	case chat.Damaged:
		return r, from.Errorf("the header is damaged, so the chat cannot be pointed at another lorebook; see 'stchat repair'")
	case chat.None:
		return r, from.Errorf("the chat has no header in which it could name a lorebook (the layout of group chats up to 1.14); open it once in SillyTavern 1.16 or later")
	}
	if err := safefile.CanReplace(path); err != nil {
		return r, pathError(err)
	}
	if from.HasDir {
		if err := refuseDatabase(path, from.Dir); err != nil {
			return r, err
		}
	}
	sidecars, err := luker.Sidecars(path)
	if err != nil {
		return r, pathError(err)
	}
	r.luke = len(sidecars) > 0
	for _, s := range sidecars {
		if s.Kind == luker.ChatSync {
			r.sync = s.Path
		}
	}
	r.name, _ = lorebook.NameIn(from.Metadata())
	return r, nil
}

// assign gives every chat to rebind the clone it is for: that of the only source,
// that of the source which the chat itself is, or that of the only source with the
// lorebook it names.
func (c *bookCloning) assign(chats []*rebinding) error {
	for _, r := range chats {
		var own, named []*bookJob
		real := names.Fold(realPath(r.path))
		for _, j := range c.jobs {
			if names.Fold(realPath(j.res.Source)) == real {
				own = append(own, j)
			}
			if j.book != nil && r.name == j.book.Name {
				named = append(named, j)
			}
		}
		var to *bookJob
		switch {
		case len(c.jobs) == 1:
			to = c.jobs[0]
		case len(own) == 1:
			to = own[0]
		case len(own) == 0 && len(named) == 1:
			to = named[0]
		default:
			return r.chat.Errorf("%w", ErrRebindAmbiguous)
		}
		to.chats = append(to.chats, r)
		if to.book != nil && r.name != to.book.Name && r.name != "" {
			to.res.warn("%s: the chat named the lorebook %q, not %q", r.path, r.name, to.book.Name)
		}
	}
	return nil
}

// run writes the clone and then the chats that name it.
func (c *bookCloning) run(j *bookJob) {
	r := j.res
	if c.DryRun {
		r.Written = true
		r.would("write %s: %s, %d left out", j.target, plural.Of(r.Entries, "entry", "entries"), r.Dropped)
	}
	var temp *safefile.Temp
	if !c.DryRun {
		var err error
		if temp, err = c.create(j.target, j.clone.Raw); err != nil {
			if _, unsynced := errors.AsType[*safefile.UnsyncedError](err); !unsynced {
				r.Errs = append(r.Errs, pathError(err))
				return
			}
			r.Errs = append(r.Errs, err) // it is in place all the same
		}
		r.Written = true
	}
	for _, rb := range j.chats {
		changes, done, err := c.rebind(rb, j)
		switch {
		case !done:
			r.Errs = append(r.Errs, fmt.Errorf("%s: %w; the chat is as it was", rb.path, cause(err)))
			continue
		case err != nil:
			r.Errs = append(r.Errs, fmt.Errorf("%s: %w", rb.path, err))
		}
		r.Rebound = append(r.Rebound, rb.path)
		for _, ch := range changes {
			r.State = append(r.State, ReboundNote{rb.path, ch.Extension, ch.Change})
		}
		r.would("point %s at it", rb.path)
	}
	if temp != nil && len(j.chats) > 0 && len(r.Rebound) == 0 {
		if err := temp.Undo(); err != nil {
			r.Errs = append(r.Errs, pathError(err))
			return
		}
		r.Written = false
	}
}

// create writes the clone, which must not exist, so that it can be taken back.
func (c *bookCloning) create(path string, data []byte) (*safefile.Temp, error) {
	t, err := safefile.New(path, safefile.Options{NoSync: c.NoSync})
	if err != nil {
		return nil, err
	}
	defer t.Discard()
	if _, err := t.Write(data); err != nil {
		return nil, err
	}
	return t, t.Create()
}

// rebind points one chat at the clone; done says whether it was, also where the error
// is about what comes after. Only the header's line changes. A Luker chat gets a new
// slug with every edit, in its header and in its chat_sync (FORMATS.md A1.6).
func (c *bookCloning) rebind(r *rebinding, j *bookJob) (changes []isolate.Change, done bool, err error) {
	h := r.chat.Header
	changes = isolate.Follow(h.Metadata(), isolate.Rebinding{From: j.book, Clone: j.clone})
	slug := ""
	if c.BumpIntegrity || r.luke {
		slug = c.NewUUID()
		h.Metadata().Set("integrity", rawjson.Quote(slug))
	}
	if c.DryRun {
		return changes, true, nil
	}
	c.swept.beside(r.path)
	was := r.chat.HeaderSpan
	if err = rewrite(r.chat, []splice{{was.Off, was.Len, h.Bytes()}}, c.NoSync); err != nil {
		_, done = errors.AsType[*safefile.UnsyncedError](err)
		if !done {
			return nil, false, err
		}
	}
	if r.sync != "" {
		err = errors.Join(err, c.syncSlug(r.sync, slug))
	}
	return changes, true, err
}

// syncSlug writes a chat's new slug where Luker looks first.
func (c *bookCloning) syncSlug(path, slug string) error {
	was, err := safefile.StampPath(path)
	if err == nil {
		_, err = safefile.Rewrite(path, luker.SyncData(slug, c.Now.UnixMilli()), was, safefile.Options{NoSync: c.NoSync})
	}
	if err != nil {
		return fmt.Errorf("the chat is pointed at the clone, but its new slug is not in %s: %w", path, cause(err))
	}
	return nil
}
