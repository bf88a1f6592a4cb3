package cut

import (
	"stchat/internal/chat"
	"stchat/internal/isolate"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// Keys of the metadata that have options of their own.
const (
	keyMainChat  = "main_chat"
	keyIntegrity = "integrity"
)

// newHeader returns the new chat's first line and the content of the lorebook's clone, nil if
// there is none.
func newHeader(c *call, src *chat.Chat, p *plan, state *isolate.Facts, at int, r *Result) (line, book []byte, err error) {
	h := src.OutputHeader()
	if book, err = editMetadata(c, src, p, h, state, at, r); err != nil {
		return nil, nil, src.Errorf("%w", err)
	}
	md := h.Metadata()
	setParent(c.opt, src, p.name.File, md, r)
	switch c.opt.Integrity {
	case IntegrityKeep:
	case IntegrityNone:
		md.Unset(keyIntegrity)
	case IntegrityNew:
		md.Set(keyIntegrity, rawjson.Quote(c.opt.NewUUID()))
	default:
		md.Set(keyIntegrity, rawjson.Quote(c.opt.Integrity))
	}
	r.Doc.MainChat = rawjson.TextOrNil(md.Value(keyMainChat))
	r.Doc.Integrity = rawjson.TextOrNil(md.Value(keyIntegrity))
	h.Complete()
	line = h.Bytes()
	if d := jsonl.Check(line); d != nil {
		return nil, nil, src.Errorf("the new header would be damaged: %s", d.Reason) // nested too deep by the values put in
	}
	return line, book, nil
}

// editMetadata makes the requested changes in this order: whole documents, the state as of the
// last message, single keys, the lorebook.
func editMetadata(c *call, src *chat.Chat, p *plan, h *meta.Header, state *isolate.Facts, at int, r *Result) (book []byte, err error) {
	if err := h.Change(c.opt.Values.Documents); err != nil {
		return nil, err
	}
	if c.opt.Isolate {
		r.Doc.changed(state.Apply(h.Metadata(), p.name.File))
	}
	if err := judge(c, src, h.Metadata(), state, at); err != nil {
		return nil, err
	}
	if err := h.Change(c.opt.makeEdits); err != nil {
		return nil, err
	}
	if !c.opt.clones() {
		shareBook(c, src, h.Metadata(), r)
		return nil, nil
	}
	return makeClone(c.opt, src, p.clone, h.Metadata(), state, at, r)
}

// setParent names the source as the new chat's parent.
func setParent(opt *Options, src *chat.Chat, name string, md *rawjson.Object, r *Result) {
	parent := src.Name
	if opt.MainChat != nil {
		parent = *opt.MainChat
	}
	if parent != "" {
		md.Set(keyMainChat, rawjson.Quote(parent))
		return
	}
	md.Unset(keyMainChat)
	keepRecap(src, name, md, r)
}
