// Package lost compares older versions of chats with the chats as they are, and finds
// the messages that only the older ones have.
//
// A message's [Text] is a hash of who says it, user or not, and what, so renaming a
// character loses nothing. The swipes of a live message are texts too. Hashes have 62 bits
// and a seed for each run, so nobody can craft two texts that collide.
//
// Only 8 bytes are kept for each text of a file.
package lost

import (
	"bytes"
	"context"
	"hash/maphash"
	"os"
	"slices"

	"stchat/internal/extension/illustrator"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/sillytavern/chat"
)

// Text stands for what a message, or a swipe of it, says. Its two lowest bits are flags: see
// user and marked.
type Text uint64

const (
	user   Text = 1 // the user says it
	marked Text = 2 // of a live chat: a swipe of the message before; of a version: no live chat has it
	flags       = user | marked
)

// key is what two equal texts share.
func (t Text) key() Text { return t &^ marked }

// says reports whether t stands for a text: a message without one only has a place in a live
// chat's list.
func (t Text) says() bool { return t&^flags != 0 }

// Version is what was read of a file.
type Version struct {
	Slug     string // the header's integrity
	Parent   string // the header's main_chat
	Messages int
	Texts    []Text // of the messages that count, in order
	Missing  int    // how many of them no live chat has; 0 of a live chat

	// Begins says that there is nothing but a greeting, or several by as many speakers: a chat of a
	// group begins with one of each member.
	Begins bool
}

// Greets reports whether nothing but greetings is said, which begin every chat of a character, and
// once a member every chat of a group: they are no loss.
func (v *Version) Greets(group bool) bool {
	return v.Begins && (group || len(v.Texts) <= 1)
}

// Own counts the messages at a version's end that another chat does not have, if that has one before
// them: a single one may have been edited there, with more it went on in its own way.
func (v *Version) Own(has func(Text) bool) (n int) {
	for _, t := range slices.Backward(v.Texts) {
		if has(t.key()) {
			return n
		}
		n++
	}
	return 0
}

// Said returns the texts of a version, as those of a live chat are.
func (v *Version) Said() []Text {
	said := make([]Text, len(v.Texts))
	for i, t := range v.Texts {
		said[i] = t.key()
	}
	return said
}

// The keys of a message that are looked at.
const (
	keyIsUser = iota
	keyText
	keySwipes
	keyExtra
)

// Reader reads files one after another and reuses its memory. It is for one goroutine.
type Reader struct {
	seed maphash.Seed
	live Set
	keys *jsonl.Keys
	who  *jsonl.Keys // for openings
	buf  jsonl.Buffer
	all  said // of the file that is read
}

// NewReader returns a reader of live chats if live is nil, else of versions of the chats in
// live. Texts are comparable between readers with the same seed.
func NewReader(seed maphash.Seed, live Set) *Reader {
	return &Reader{
		seed: seed, live: live,
		keys: jsonl.NewKeys("is_user", "mes", "swipes", "extra"),
		who:  jsonl.NewKeys("name", "mes", "original_avatar", "extra"),
	}
}

// Read reads a chat file, under whatever name. With small it returns nil for a large one:
// those are read one by one, each by all processors.
func (r *Reader) Read(ctx context.Context, path string, small bool) (*Version, error) {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || small && info.Size() > jsonl.Small {
		return nil, err
	}
	v, err := r.read(ctx, jsonl.Source{R: f, Size: info.Size()}, small)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return v, nil
}

func (r *Reader) read(ctx context.Context, src jsonl.Source, small bool) (*Version, error) {
	v := &Version{}
	head, err := jsonl.ReadHead(ctx, src)
	if err != nil {
		return nil, err
	}
	if head.Line == nil {
		return v, nil
	}
	opt, isHeader := behindHeader(head, r.keys)
	opt.Limit = -1
	if isHeader {
		v.Slug, v.Parent = meta.Identity(head.Line)
	}

	if small {
		r.all.reset()
		_, err = r.buf.Each(src, opt, func(l *jsonl.Line) { r.all.line(l, r) })
		v.add(&r.all)
	} else {
		work := func(l *jsonl.Line, part *said) { part.line(l, r) }
		fold := func(part *said, _ jsonl.Base, _ jsonl.Damages) error {
			v.add(part)
			return nil
		}
		err = jsonl.Map(ctx, src, opt, work, fold, (*said).reset)
	}
	if err != nil {
		return v, err
	}

	o := openings{}
	if v.mayBegin() {
		opt.Keys = r.who
		_, err = r.buf.Each(src, opt, o.line)
	}
	v.Begins = v.mayBegin() && !o.again
	return v, err
}

// add adds what was found in a stretch of the file.
func (v *Version) add(t *said) {
	v.Texts = append(v.Texts, t.texts...)
	v.Messages += t.messages
	v.Missing += t.missing
}

// mostOpenings is how many messages are taken for greetings: a group has one of each member.
const mostOpenings = 64

// mayBegin reports whether a version may have nothing but greetings: the user says nothing.
func (v *Version) mayBegin() bool {
	return v.Messages <= mostOpenings && !slices.ContainsFunc(v.Texts, func(t Text) bool { return t&user != 0 })
}

// openings finds out whether anybody says something a second time.
type openings struct {
	speakers map[string]bool
	again    bool
}

// line looks at one line, which was read for the who of a [Reader]. A speaker is known by the card
// that SillyTavern notes in a chat of a group, or else by name.
func (o *openings) line(l *jsonl.Line) {
	const keyName, keyAvatar = 0, 2
	mes, _ := l.Value(keyText)
	if l.Damage != nil || isProgram(l) || len(mes) <= len(`""`) {
		return
	}
	speaker, _ := l.Value(keyAvatar)
	if !rawjson.Truthy(speaker) {
		speaker, _ = l.Value(keyName)
	}
	if o.speakers == nil {
		o.speakers = map[string]bool{}
	}
	o.again = o.again || o.speakers[string(speaker)]
	o.speakers[string(speaker)] = true
}

// Cast returns the cards of those who speak in a chat, in the order in which they begin to: SillyTavern
// notes them in the messages of a group's chat.
func Cast(file *os.File) (cast []string, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	keys := jsonl.NewKeys("original_avatar")
	var buf jsonl.Buffer
	_, err = buf.Each(jsonl.Source{R: file, Size: info.Size()}, jsonl.MapOptions{Limit: -1, Keys: keys}, func(l *jsonl.Line) {
		raw, _ := l.Value(0)
		avatar, ok := rawjson.Unquote(raw)
		if l.Damage == nil && ok && avatar != "" && !slices.Contains(cast, avatar) {
			cast = append(cast, avatar)
		}
	})
	return cast, err
}

// said is what a stretch of a file says.
type said struct {
	texts             []Text
	messages, missing int
	buf               []byte
}

func (t *said) reset() {
	t.texts = t.texts[:0]
	t.messages = 0
	t.missing = 0
}

// line reads one line. Empty texts do not count, nor what has an extra.type or is a
// small system message: these are the program's, not the story's.
func (t *said) line(l *jsonl.Line, r *Reader) {
	if l.Damage != nil {
		return
	}
	t.messages++
	isUser, _ := l.Value(keyIsUser)
	who := Text(0)
	if rawjson.Truthy(isUser) {
		who = user
	}
	mes, _ := l.Value(keyText)
	text, ok := t.hash(r.seed, mes, who)
	if r.live != nil {
		switch {
		case !ok:
		case r.live.Has(text):
			t.texts = append(t.texts, text)
		case !isProgram(l):
			t.texts = append(t.texts, text|marked)
			t.missing++
		}
		return
	}

	if isProgram(l) {
		return
	}
	// A message without a text of its own has swipes all the same, and a place.
	t.texts = append(t.texts, text)
	swipes, _ := l.Value(keySwipes)
	for raw := range rawjson.Elements(swipes) {
		if swipe, ok := t.hash(r.seed, raw, who); ok && swipe != text {
			t.texts = append(t.texts, swipe|marked)
		}
	}
}

// hash returns the text that raw, a JSON string, stands for; who is user or 0. It is
// false for what says nothing.
func (t *said) hash(seed maphash.Seed, raw []byte, who Text) (Text, bool) {
	if rawjson.KindOf(raw) != rawjson.String || len(raw) <= 2 {
		return who, false
	}
	raw = illustrator.WithoutIDs(raw) // they change with a message's place
	said := raw[1 : len(raw)-1]
	if bytes.IndexByte(said, '\\') >= 0 {
		t.buf, _ = rawjson.AppendUnquoted(t.buf[:0], raw)
		said = t.buf
	}
	return Text(maphash.Bytes(seed, said))&^flags | who, true
}

// isProgram reports whether a message is the program's own.
func isProgram(l *jsonl.Line) bool {
	extra, ok := l.Value(keyExtra)
	if !ok {
		return false
	}
	return rawjson.Truthy(rawjson.Value(extra, "type")) || rawjson.Truthy(rawjson.Value(extra, "isSmallSys"))
}
