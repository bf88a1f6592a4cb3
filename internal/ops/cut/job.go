package cut

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/change/safefile"
	"stchat/internal/extension/isolate"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// job is the way of one source through a call.
type job struct {
	source string
	part   *stretch // what of the source the new chat gets; nil: all up to the last message
	res    *Result

	src    *chat.Chat     // the source while it is open
	opened safefile.Stamp // the source when it was first opened; zero: it was not
	facts
	plan
	drafted drafted
}

// facts is what a pass over the messages of a source finds out before the new chat is written.
type facts struct {
	last  lastMessage
	state *isolate.Facts // what extensions kept as of the last message; nil: not needed, or not read yet
}

// lastMessage is what is known beforehand of the last message.
type lastMessage struct {
	index  int  // -1: not known
	whole  bool // the whole chat was read to find it
	damage jsonl.Damages
}

// plan is where a new chat goes, and what comes to be with it.
type plan struct {
	chatPath
	listing  string          // the group file to add the new name to, or ""
	clones   []*clone        // of its lorebooks
	sidecars []luker.Sidecar // what Luker keeps beside the source, if it goes with the new chat
}

// chatPath is where a new chat goes.
type chatPath struct {
	name   names.Name
	path   string // Stdout for standard output
	beside bool   // it is in the source's folder
}

// drafted is what drafting found out and is needed later.
type drafted struct {
	bookless bool                            // a clone was asked for, but the chat names no lorebook that exists
	at       int                             // the index of the last message; -1: not known
	linkedIn string                          // the real path of the source that links to the new chat
	replaced string                          // the checkpoint that the message was linked to before
	stream   func(ctx context.Context) error // writes the chat to standard output
}

func newJob(opt *Options, source string) *job {
	j := &job{source: source, res: new(Result)}
	j.reset(opt)
	return j
}

// reset takes a job back to its beginning. Its result stays the one that the caller holds.
func (j *job) reset(opt *Options) {
	j.close()
	*j.res = Result{Doc: Document{Schema: 1, Source: j.source, Made: Made{Kind: opt.Kind.String(), DryRun: opt.Changes.DryRun, At: opt.At}}}
	*j = job{source: j.source, res: j.res}
	j.last.index = -1
	j.drafted.at = -1
}

// isOver reports whether nothing is left to do: it failed, or the chat had been made before.
func (j *job) isOver() bool { return j.res.Err != nil || j.res.Doc.Existed }

// makes reports whether the chat or the clone of a lorebook that the job makes goes to path.
func (j *job) makes(path string) bool {
	return j.path == path || slices.ContainsFunc(j.clones, func(k *clone) bool { return k.path == path })
}

// open opens the source up to its header, unless it is open, and refuses one whose header is
// damaged. If it was opened before, it must be unchanged since then.
func (j *job) open(ctx context.Context, c *call) error {
	if j.src != nil {
		return nil
	}
	demand := ops.Whole
	if c.opt.SkipDamaged {
		demand = ops.Anything
	}
	src, err := ops.Open(ctx, c.library, j.source, demand, chat.Options{Data: c.opt.Data, Stdin: c.opt.Stdin, Content: c.opt.Content})
	if err != nil {
		return err
	}
	wasOpened := j.opened != safefile.Stamp{}
	if wasOpened && !src.Stamp.Same(j.opened) {
		src.Close()
		return src.Errorf("%w", jsonl.ErrChanged)
	}
	j.src, j.opened = src.Chat, src.Stamp
	return nil
}

// keptOpen is how many sources stay open between the steps of a call. If there are more, each is
// closed after a step: there may be more of them than a process may have open, or than fit in memory.
const keptOpen = 64

// pause ends a step of a job that other jobs take, too.
func (j *job) pause(c *call) {
	// standard input cannot be read twice
	if len(c.jobs) > keptOpen && j.source != chat.Stdin {
		j.close()
		j.state = nil
	}
}

// rest lets go of the source once the new chat is drafted, unless it is still to be copied to
// standard output.
func (j *job) rest() {
	if j.drafted.stream == nil {
		j.close()
		j.state = nil
	}
}

func (j *job) close() {
	j.src.Close()
	j.src = nil
}

// stream writes a chat to standard output, if it goes there, after all that was drafted with it
// has been committed.
func (j *job) stream(ctx context.Context, dryRun bool) {
	if j.res.Err != nil || j.drafted.stream == nil || dryRun {
		return
	}
	err := j.drafted.stream(ctx)
	if err != nil && len(j.clones) > 0 {
		err = fmt.Errorf("%w; the lorebook %s was made for it, and stays", err, j.clones[0].path)
	}
	j.res.Err = err
}

// readBook reads the lorebook called name in dir.
func readBook(lib *library.Library, dir userdir.Dir, name string) (*lorebook.Book, error) {
	book, err := lib.ReadBook(dir, name)
	return book, ops.PathError(err)
}

// lookAround looks up what decides whether the new chat of an open source may be made.
func lookAround(c *call, j *job) *around {
	a := new(around)
	if j.src.Kind == userdir.Group && len(j.src.Groups) == 0 {
		a.unreadGroup = unreadGroup(c.library, j.src)
	}
	if j.source != chat.Stdin {
		folder := c.library.Folder(filepath.Dir(j.source))
		a.unlisted = folder.Err
		a.sidecars = sidecarsOf(c, j.source)
		a.stray = folder.Sidecars(userdir.ChatName(j.path))
	}

	if j.listing != "" {
		a.lockedGroup = safefile.CanReplace(j.src.Groups[0].Path)
	}
	if c.opt.Link {
		// a link is a name in the source's own folder, wherever a symlink to it lies
		together, err := sameFolder(filepath.Dir(userdir.RealPath(j.source)), filepath.Dir(j.path))
		a.apart = !together
		a.noFolders = err
		a.locked = safefile.CanReplace(j.source)
	}
	return a
}

// unreadGroup returns the error of a group file that could not be read and may be the one that
// lists the chat, nil if there is none.
func unreadGroup(lib *library.Library, src *chat.Chat) error {
	if !src.HasDir {
		return nil
	}
	set, err := lib.Groups(src.Dir)
	if err != nil || len(set.Bad) == 0 {
		return nil // opening the chat reported it
	}
	return ops.PathError(set.Bad[0])
}

// openMade opens a chat that must be a checkpoint or branch of the chat called source.
func openMade(ctx context.Context, c *call, path, source string) (*chat.Chat, error) {
	made, err := chat.Open(ctx, path, chat.Options{Data: c.opt.Data, Groups: c.library})
	if err != nil {
		return nil, ops.PathError(err)
	}
	parent := ""
	if made.Header != nil {
		parent, _ = rawjson.Unquote(made.Header.Metadata().Value(keyMainChat))
	}
	if parent != "" && parent == source {
		return made, nil
	}
	made.Close()
	return nil, fmt.Errorf("%[1]s: is not a checkpoint or branch of %[2]s (its main_chat is not %[2]s); choose another name", path, source)
}
