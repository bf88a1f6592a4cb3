package cut

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/autorecap"
	"stchat/internal/folder/library"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
)

// Keys of the metadata that have options of their own.
const (
	keyMainChat  = "main_chat"
	keyIntegrity = "integrity"
)

// newHeader returns the new chat's first line, and makes the contents of the clones of its
// lorebooks.
func newHeader(ctx context.Context, c *call, j *job) (line []byte, err error) {
	src, r := j.src, j.res
	if err := checkParent(ctx, c, j); err != nil {
		return nil, err
	}
	h := src.OutputHeader()
	if err := editMetadata(c, j, h); err != nil {
		return nil, src.Errorf("%w", err)
	}
	md := h.Metadata()
	if parent := ops.Or(c.opt.MainChat, src.Name); parent != "" {
		md.Set(keyMainChat, rawjson.Quote(parent))
	} else {
		md.Unset(keyMainChat)
		keepRecap(src, j.name.File, md, r)
	}

	switch c.opt.Integrity {
	case IntegrityKeep:
	case IntegrityNone:
		md.Unset(keyIntegrity)
	case IntegrityNew:
		md.Set(keyIntegrity, rawjson.Quote(c.opt.Changes.NewUUID()))
	default:
		md.Set(keyIntegrity, rawjson.Quote(c.opt.Integrity))
	}

	r.Doc.fromHeader(md)
	h.Complete()
	line = h.Bytes()
	if d := jsonl.Check(line); d != nil {
		return nil, src.Errorf("the new header would be damaged: %s", d.Reason) // nested too deep by the values put in
	}
	return line, nil
}

// editMetadata makes the requested changes in this order: whole documents, the state as of the
// last message, single keys, the lorebooks.
func editMetadata(c *call, j *job, h *meta.Header) error {
	if err := h.Change(c.opt.Values.Documents); err != nil {
		return err
	}
	if c.opt.Isolate {
		j.res.Doc.changed(j.state.Apply(h.Metadata(), j.name.File))
	}
	if err := judgeState(c, j, h.Metadata()); err != nil {
		return err
	}
	edits := patch.Changes{Edits: c.opt.Values.Edits}
	if err := h.Change(edits.Apply); err != nil {
		return err
	}
	if !c.opt.clones() {
		ShareBooks(c.library, j.src, h.Metadata(), j.res)
		return nil
	}
	return makeClones(c.opt, j, h.Metadata())
}

// judgeState refuses a chat whose state at the last message is not as required.
func judgeState(c *call, j *job, md *rawjson.Object) error {
	if len(c.opt.Require) == 0 {
		return nil
	}
	book, err := judgedBook(c.library, j.src, md)
	if err != nil {
		return err
	}
	broken, err := autorecap.Judge(c.opt.Require, autorecap.State{At: j.last.index, Scene: j.state.Recap().Scene(), Metadata: md, Book: book})
	if err != nil || len(broken) == 0 {
		return err
	}
	return fmt.Errorf("not as %w at message %d: %s", ErrRequirement, j.last.index, strings.Join(broken, "; "))
}

// judgedBook returns the chat's lorebook, nil if it has none or the lorebook is missing.
func judgedBook(lib *library.Library, src *chat.Chat, md *rawjson.Object) (*lorebook.Book, error) {
	name, ok := lorebook.NameIn(md)
	if !ok {
		return nil, nil
	}
	if !src.HasDir {
		return nil, fmt.Errorf("%w, so the queue in its lorebook %q cannot be read", ops.ErrNoUserFolder, name)
	}
	book, err := readBook(lib, src.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		return nil, nil
	}
	return book, err
}

// checkParent refuses a parent that was given and is the new chat itself or descends from it, and warns of one that
// is not there.
func checkParent(ctx context.Context, c *call, j *job) error {
	parent := ops.Or(c.opt.MainChat, "")
	if parent == "" || j.path == Stdout {
		return nil
	}
	isThere, err := ops.CheckParent(ctx, j.path, parent)
	if err == nil && !isThere {
		j.res.Warn("%s: there is no chat %q beside it", chat.Label(j.path), parent)
	}
	return err
}

// keepRecap protects an Auto-Recap store in a chat without a parent: without main_chat the
// extension erases a recap whose chat_id is not the chat's (FORMATS.md B2.1).
func keepRecap(src *chat.Chat, name string, md *rawjson.Object, r *Result) {
	if _, ok := autorecap.RunningIn(md); !ok {
		return
	}
	if name == "" {
		r.Warn("%s: without main_chat Auto-Recap erases the recap in the new chat, unless its chat_id is the name the file gets", src.Label())
		return
	}
	if autorecap.SetRunningChat(md, name) {
		what := fmt.Sprintf("chat_id set to %q, since without main_chat the recap would be erased", name)
		r.Doc.changed([]extension.Change{{Extension: "auto_recap", What: extension.Internal, Change: what}})
	}
}
