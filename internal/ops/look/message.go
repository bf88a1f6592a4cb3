// Package look holds the verbs that only read: they return values and write nothing.
package look

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"stchat/internal/folder/inspect"
	"stchat/internal/folder/library"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
	"stchat/internal/text/words"
)

// Message is one message: the document of show.
type Message struct {
	Schema     int        `json:"schema"`
	Path       string     `json:"path" is:"path"`
	Index      *int       `json:"index"` // null if it was read from the end
	Role       string     `json:"role"`
	Name       *string    `json:"name"`
	Date       *string    `json:"date"` // RFC 3339 in UTC, or the text as it stands
	Hidden     bool       `json:"hidden"`
	Swipe      *int       `json:"swipe"` // the chosen one, from 1
	Swipes     int        `json:"swipes"`
	SwipeTexts []*string  `json:"swipe_texts"` // filled on demand; null for a swipe that is not a text
	Text       *string    `json:"text"`
	Reasoning  *string    `json:"reasoning"`
	Media      []Media    `json:"media"`
	Files      []Media    `json:"files"`
	Checkpoint *string    `json:"checkpoint"`
	Branches   []string   `json:"branches"`
	Stored     rawMessage `json:"message"`

	Owner    string        `json:"-"` // the character's folder or the group's name; "" if it is not known
	Chat     string        `json:"-"` // the chat's name
	Type     string        `json:"-"` // narrator or note, where it is one
	Display  *string       `json:"-"` // extra.display_text
	Thinking time.Duration `json:"-"` // how long it took to find the reasoning; 0: not known
	Raw      Raw           `json:"-"`
}

// Time returns when a message was sent, if its date can be read.
func (m *Message) Time() (at time.Time, ok bool) {
	if m.Date == nil {
		return at, false
	}
	at, err := time.Parse(time.RFC3339Nano, *m.Date)
	return at, err == nil
}

// IsAside reports whether a message is no part of the story, by its extra: a comment, a small
// system line, or the call of a tool.
func IsAside(extra []byte) bool {
	var kind, small, tools []byte
	rawjson.Into(extra, []string{"type", "isSmallSys", "tool_invocations"}, &kind, &small, &tools)
	text, _ := rawjson.Unquote(kind)
	return text == "comment" || rawjson.Truthy(small) || message.HoldsCalls(tools)
}

// Thought says how long the model thought, in seconds where that is known, and in words.
func (m *Message) Thought() string {
	text := "thought "
	if m.Thinking > 0 {
		text += fmt.Sprintf("%.0f s, ", m.Thinking.Seconds())
	}
	n := 0
	if m.Reasoning != nil {
		n = words.Number(prose.Plain(*m.Reasoning))
	}
	return text + plural.S(n, "word")
}

// rawMessage is the stored object, spelled as it is stored.
type rawMessage []byte

// MarshalJSON implements json.Marshaler.
func (r rawMessage) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	return rawjson.Compact(r), nil
}

// Media is a picture or another file attached to a message.
type Media struct {
	URL    string  `json:"url"`
	Type   *string `json:"type"`
	Exists *bool   `json:"exists"` // null if it is not in the user folder

	Title string `json:"-"`
}

// Kind returns what an attachment is: picture, file, or what its type says.
func (m Media) Kind() string {
	if kind := ops.Or(m.Type, ""); kind != "" && kind != "image" {
		return kind
	}
	return "picture"
}

// Name returns what an attachment is called: its title, or its file's name; "" if it is in the
// chat itself, without a title.
func (m Media) Name() string {
	if m.Title != "" || m.URL == "" || strings.HasPrefix(m.URL, "data:") {
		return m.Title
	}
	return path.Base(m.URL)
}

// Missing returns what is said behind the name of an attachment that is not there, else "".
func (m Media) Missing() string {
	if m.Exists != nil && !*m.Exists {
		return ", missing"
	}
	return ""
}

// Raw are values of a message as they are stored, nil where there is none.
type Raw struct{ Name, User, System, Text, Date, Swipes, Swipe, Extra, Display, Avatar []byte }

// messageAt returns the document of one line of a chat.
func messageAt(c *chat.Chat, at choose.Place, line []byte, opt MessageOptions) *Message {
	m := &Message{Schema: 1, Path: c.Path, Stored: line, Owner: c.Owner, Chat: c.Name}
	if at.Index >= 0 {
		m.Index = &at.Index
	}

	r := &m.Raw
	rawjson.Into(line, []string{"name", "is_user", "is_system", "mes", "send_date", "swipes", "swipe_id", "extra", "force_avatar"},
		&r.Name, &r.User, &r.System, &r.Text, &r.Date, &r.Swipes, &r.Swipe, &r.Extra, &r.Avatar)
	speaker := message.Speaker{Name: r.Name, User: r.User, System: r.System}
	var duration, reasoning, link, branches []byte
	var has attachments
	rawjson.Into(r.Extra, []string{
		"type", "isSmallSys", "tool_invocations", "reasoning_duration", "reasoning", "display_text", "bookmark_link", "branches",
		"title", "media", "image_swipes", "image", "video", "files", "file",
	}, &speaker.Type, &speaker.Small, &speaker.Tools, &duration, &reasoning, &r.Display, &link, &branches,
		&has.title, &has.media, &has.swipes, &has.image, &has.video, &has.files, &has.file)

	m.Role = string(speaker.Role())
	m.Name = rawjson.TextOrNil(r.Name)
	for raw := range rawjson.Elements(r.Swipes) {
		m.Swipes++
		if opt.SwipeTexts {
			m.SwipeTexts = append(m.SwipeTexts, rawjson.TextOrNil(raw))
		}
	}

	if n, ok := rawjson.Int(r.Swipe); ok && n >= 0 && n < m.Swipes {
		m.Swipe = new(n + 1)
	}
	m.Hidden = message.Hidden(r.System, r.Extra)
	switch message.Who(m.Role) {
	case message.Narrator:
		m.Type = "narrator"
	case message.Comment:
		m.Type = "note"
	}

	if ms, ok := rawjson.Int(duration); ok {
		m.Thinking = time.Duration(ms) * time.Millisecond
	}
	if !opt.NoTexts {
		m.Date = inspect.DateText(r.Date)
		m.Text = rawjson.TextOrNil(r.Text)
		m.Reasoning = rawjson.TextOrNil(reasoning)
		m.Display = rawjson.TextOrNil(r.Display)
	}

	m.Checkpoint = rawjson.TextOrNil(link)
	m.Branches = slices.AppendSeq(m.Branches, rawjson.Texts(branches))
	m.attach(c, &has)
	return m
}

// attachments are the values of extra that say what is attached to a message: a title, lists of
// objects with a url or of plain addresses (FORMATS.md E4), and what chats of SillyTavern 1.13 and
// before keep in their place (ensureMessageMediaIsArray in script.js).
type attachments struct{ title, media, swipes, image, video, files, file []byte }

func (m *Message) attach(c *chat.Chat, has *attachments) {
	if len(has.media)+len(has.swipes)+len(has.image)+len(has.video)+len(has.files)+len(has.file) == 0 {
		return // most have nothing
	}
	for _, from := range []struct {
		to   *[]Media
		kind string // "": what the element says
		list []byte
	}{
		{&m.Media, "", has.media},
		{&m.Media, "image", has.swipes},
		{&m.Media, "image", rawjson.Append(nil, has.image)},
		{&m.Media, "video", rawjson.Append(nil, has.video)},
		{&m.Files, "", has.files},
		{&m.Files, "", rawjson.Append(nil, has.file)},
	} {
		for element := range rawjson.Elements(from.list) {
			a, ok := attached(c, element)
			if from.kind != "" {
				a.Type = &from.kind
				ok = ok && !slices.ContainsFunc(m.Media, func(other Media) bool { return other.URL == a.URL })
			}
			if from.to == &m.Media && a.Title == "" {
				a.Title, _ = rawjson.Unquote(has.title) // as appendMediaToMessage does
			}
			if ok {
				*from.to = append(*from.to, a)
			}
		}
	}
}

// attached reads an attachment; ok is false if it has neither an address nor a name.
func attached(c *chat.Chat, raw []byte) (a Media, ok bool) {
	address := raw
	var kind, title, name []byte
	if rawjson.KindOf(raw) == rawjson.ObjectKind {
		address = nil
		rawjson.Into(raw, []string{"url", "type", "title", "name"}, &address, &kind, &title, &name)
	}
	a.Type = rawjson.TextOrNil(kind)
	a.URL, _ = rawjson.Unquote(address)
	if a.Title, _ = rawjson.Unquote(title); a.Title == "" {
		a.Title, _ = rawjson.Unquote(name)
	}
	if c.HasDir && a.URL != "" {
		if exists, ours := c.Dir.Serves(a.URL); ours {
			a.Exists = &exists
		}
	}
	return a, a.URL != "" || a.Title != ""
}

// MessageOptions says which messages of a chat to read.
type MessageOptions struct {
	Path        string // "-": standard input
	Choice      choose.Choice
	Tail        bool // read from the end, no further back than needed
	SkipDamaged bool
	Open        chat.Options
	Meter       *progress.Meter // told how far the chat is read

	SwipeTexts bool // fill in Message.SwipeTexts
	NoTexts    bool // leave Text, Reasoning, Display and Date out
}

// Exported returns the options by which an export reads the chat at path.
func Exported(x *ops.Export, path string) MessageOptions {
	return MessageOptions{Path: path, Choice: x.Choice, SkipDamaged: x.SkipDamaged, Open: x.Open, Meter: x.Meter, SwipeTexts: x.Swipes}
}

// MessagesRead says what [Messages] read.
type MessagesRead struct {
	Chosen  int
	Total   int // messages of the chat; below 0 if it was not read to its end
	Skipped jsonl.Damages
	Clipped bool // a range ends at the last message instead of beyond it
}

// Messages calls each, unless it is nil, for the chosen messages of a chat, in the chat's order.
// A message is valid until each returns. A damaged line among those read is an error that wraps
// [chat.ErrDamaged], unless SkipDamaged is set.
func Messages(ctx context.Context, opt MessageOptions, each func(*Message) error) (read MessagesRead, err error) {
	read.Total = -1
	opt.Open.Any = true
	c, err := ops.Open(ctx, new(library.Library), opt.Path, ops.Anything, opt.Open)
	if err != nil {
		return read, err
	}
	defer c.Close()
	var line []byte
	hand := func(at choose.Place) error {
		if each == nil {
			read.Chosen++
			return nil
		}
		if line, err = c.Source.ReadSection(line, at.Off, at.Len); err != nil {
			return c.Errorf("%w", err)
		}
		read.Chosen++
		return each(messageAt(c.Chat, at, line, opt))
	}

	source := choose.Source{Source: c.Source, Body: c.Body, Line: c.BodyLine, Progress: opt.Meter.Follow()}
	if opt.Tail {
		read.Skipped, err = opt.Choice.Tail(ctx, source, hand)
		if err == nil {
			return read, opt.judge(c, read.Skipped)
		}
		return read, c.Errorf("%w", err)
	}

	read.Skipped = c.Damage
	if err := opt.judge(c, read.Skipped); err != nil {
		return read, err
	}
	scanned, err := opt.Choice.Scan(ctx, source, hand)
	if err != nil {
		return read, c.Errorf("%w", err)
	}
	if scanned.Whole {
		read.Total = scanned.Messages
	}
	read.Clipped = scanned.Clipped
	read.Skipped.Append(scanned.Damage)
	if err := opt.judge(c, read.Skipped); err != nil {
		return read, err
	}
	return read, c.Unchanged()
}

func (opt *MessageOptions) judge(c *ops.Subject, damage jsonl.Damages) error {
	if damage.Total == 0 || opt.SkipDamaged {
		return nil
	}
	return c.DamageError(damage.First[0])
}

// Metadata is a chat's chat_metadata, whole or the values that were asked for: the document
// of meta get.
type Metadata struct {
	Schema   int        `json:"schema"`
	Path     string     `json:"path" is:"path"`
	Metadata rawMessage `json:"metadata"` // null if keys were asked for
	Values   rawMessage `json:"values"`   // null if none were
}

// MetadataOf reads a chat's metadata as SillyTavern would load it: from its header, or from
// the group file that holds it for an old group chat. With keys it returns only their
// values, each under its key as given. It reads no further than the header. A damaged header is
// an error, and so is a chat that Luker keeps in a database.
func MetadataOf(ctx context.Context, path string, open chat.Options, keys []string) (*Metadata, error) {
	open.Any = true
	c, err := ops.Open(ctx, new(library.Library), path, ops.Whole, open)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	m := &Metadata{Schema: 1, Path: path}
	raw := c.Metadata().Bytes()
	if len(keys) == 0 {
		m.Metadata = raw
		return m, nil
	}
	values := rawjson.NewObject()
	for _, key := range keys {
		path, err := patch.ParseKey(key)
		if err != nil {
			return nil, err
		}
		if value, ok := patch.Get(raw, path); ok {
			values.Set(key, rawjson.Compact(value))
		}
	}

	m.Values = values.Bytes()
	return m, nil
}

// Value returns the raw value of a key that was asked for, nil if there is none.
func (m *Metadata) Value(key string) []byte {
	return rawjson.Value(m.Values, key)
}
