// Package inspect reports what a chat contains: how many messages of whom, from
// when to when, what its bytes are spent on, what it depends on and what depends
// on it, and what extensions keep in it.
//
// A chat is read once. What a line says is counted where it lies, by several
// goroutines in a large chat and without allocating for ordinary lines, so a
// chat of gigabytes costs little more than reading it, and memory depends on its
// longest line. Around the chat, folders are listed and group files and
// lorebooks read once each, however many chats ask for them ([library.Library]).
//
// It reads as SillyTavern does: truth is JavaScript's, the last of repeated
// keys counts, and lines that SillyTavern would drop are damage and not
// counted. The package only reads.
package inspect

// Schema is the version of the JSON documents.
const Schema = 1

// Report is what is known of one chat. It is also the JSON document of inspect
// (docs/json.md): pointers are null where there is nothing to report.
type Report struct {
	Schema int     `json:"schema"`
	Path   string  `json:"path" is:"path"` // as given or found; "-" for standard input
	Name   string  `json:"name"`           // the file's, without .jsonl; empty for standard input
	Kind   string  `json:"kind"`           // solo, group or file
	Owner  *string `json:"owner"`          // the character's folder, or the group's name
	Bytes  int64   `json:"bytes"`          // the file's size
	Header string  `json:"header"`

	Counts
	FirstDate *string `json:"first_date"` // of the first message that has one: RFC 3339 in UTC, or the text as it stands
	LastDate  *string `json:"last_date"`
	BadUTF8   int     `json:"bad_utf8"` // lines with bytes that are not UTF-8

	Longest   int64   `json:"longest_line"` // in bytes, without its line end
	Heaviest  []Heavy `json:"heaviest"`     // the three largest messages
	Parts     Parts   `json:"parts"`
	ExtraKeys []Size  `json:"extra_keys"` // the largest keys under extra, at most five

	MainChat       *string `json:"main_chat"`
	MainChatExists *bool   `json:"main_chat_exists"`
	Parent         *string `json:"parent"` // main_chat, or the chat that a legacy checkpoint's name begins with
	Integrity      *string `json:"integrity"`
	Checkpoints    []Link  `json:"checkpoints"` // with the branches, the first maxLinks
	Branches       []Link  `json:"branches"`

	CheckpointTotal int `json:"checkpoint_total"`
	BranchTotal     int `json:"branch_total"`

	Lorebook         *Lorebook `json:"lorebook"`
	Books            []string  `json:"-"`             // names of all lorebooks
	MetadataKeys     []string  `json:"metadata_keys"` // in the header's order, at most [MaxKeys]
	MetadataKeyTotal int       `json:"metadata_key_total"`
	Extensions       []any     `json:"extensions"` // an extension's View, [Luker] or [Unknown]
	Damage           []Damage  `json:"damage"`     // the first jsonl.MaxDamage
	DamageTotal      int       `json:"damage_total"`

	// Warnings are what the user should know about how the chat was read.
	Warnings []string `json:"warnings"`
}

// Counts is what messages add up to.
type Counts struct {
	Messages   int `json:"messages"`
	User       int `json:"user"`
	Character  int `json:"character"`
	System     int `json:"system"`
	Hidden     int `json:"hidden"`      // is_system without extra.type and without calls of tools
	WithSwipes int `json:"with_swipes"` // messages with more than one swipe
	Swipes     int `json:"swipes"`      // stored in all
}

func (c *Counts) add(d Counts) {
	c.Messages += d.Messages
	c.User += d.User
	c.Character += d.Character
	c.System += d.System
	c.Hidden += d.Hidden
	c.WithSwipes += d.WithSwipes
	c.Swipes += d.Swipes
}

// Parts is what the bytes of the messages are spent on: values as they are
// written, with quotes and brackets. Other is the rest of the lines, so the
// parts add up to the messages' lines without their line ends.
type Parts struct {
	Text      int64 `json:"text"`       // mes
	Swipes    int64 `json:"swipes"`     // swipes
	SwipeInfo int64 `json:"swipe_info"` // swipe_info
	Extra     int64 `json:"extra"`      // extra
	Other     int64 `json:"other"`
}

func (p *Parts) add(q Parts) {
	p.Text += q.Text
	p.Swipes += q.Swipes
	p.SwipeInfo += q.SwipeInfo
	p.Extra += q.Extra
	p.Other += q.Other
}

// Heavy is a large message, and what its bytes are spent on.
type Heavy struct {
	Index int   `json:"index"`
	Bytes int64 `json:"bytes"` // of its line
	Parts Parts `json:"parts"`
}

// Size is a key and the bytes of its values.
type Size struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// Link is a checkpoint or a branch that a message names.
type Link struct {
	At     int    `json:"at"`   // the message's index
	Name   string `json:"name"` // as it is written there
	Exists *bool  `json:"exists"`
}

// Lorebook is the lorebook that the metadata names. Counts are null where it
// does not exist or cannot be read.
type Lorebook struct {
	Name     string  `json:"name"`
	Exists   *bool   `json:"exists"` // null where no user folder is known
	Entries  *int    `json:"entries"`
	Internal *int    `json:"internal"` // extension-internal ones among them
	Pending  *int    `json:"pending"`  // operations waiting in the queue
	Error    *string `json:"error"`    // why it cannot be read
}

// Damage is a damaged line, which may be left out or mended.
type Damage struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
}

// Luker is what Luker keeps beside a chat.
type Luker struct {
	Name     string    `json:"name"`  // "luker"
	Known    bool      `json:"known"` // true
	Bytes    int64     `json:"bytes"` // of the sidecars
	Sidecars []Sidecar `json:"sidecars"`
}

// Sidecar is one file of Luker's beside the chat.
type Sidecar struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"` // "floor log", "chat_sync", "orphans" or "plain"
	Bytes     int64  `json:"bytes"`
	Commits   *int   `json:"commits"`    // of a floor log; null where it cannot be read
	LastFloor *int   `json:"last_floor"` // the last message that one of them belongs to
}

// Unknown is a key of the metadata that neither SillyTavern nor a known
// extension writes.
type Unknown struct {
	Name  string `json:"name"`  // the key
	Known bool   `json:"known"` // false
	Bytes int64  `json:"bytes"` // of its value
}
