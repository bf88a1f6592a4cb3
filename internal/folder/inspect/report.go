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

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/lorebook"
	"stchat/internal/place/userdir"
)

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

// Summary is what several chats add up to. It is also the last JSON document
// of inspect, where there is more than one chat.
type Summary struct {
	Schema  int  `json:"schema"`
	Summary bool `json:"summary"` // true
	Chats   int  `json:"chats"`
	Counts
	Bytes        int64 `json:"bytes"`
	Damaged      int   `json:"damaged"` // chats with damage
	DamagedLines int   `json:"damaged_lines"`
	Failed       int   `json:"failed"` // files that could not be read

	Characters int  `json:"characters"` // folders of solo chats
	Groups     *int `json:"groups"`     // group files; null where no PATH is a user folder

	Lorebooks *Lorebooks `json:"lorebooks"` // null where no PATH is a user folder
}

// Lorebooks are the lorebooks of a user folder by whether one of its chats
// names them. A character or a setting may use one that no chat does.
type Lorebooks struct {
	Used   []string `json:"used"`
	Unused []string `json:"unused"`
}

// Summer adds up reports.
type Summer struct {
	Summary
	owners map[string]bool
	books  map[string]bool // paths of lorebooks in use
	around *library.Library
}

// NewSummer returns a Summer without reports.
func NewSummer(around *library.Library) *Summer {
	return &Summer{Summary: Summary{Schema: Schema, Summary: true}, owners: map[string]bool{}, books: map[string]bool{}, around: around}
}

// Add adds one chat.
func (s *Summer) Add(r *Report) {
	s.Chats++
	s.add(r.Counts)
	s.Bytes += r.Bytes
	s.DamagedLines += r.DamageTotal
	if r.DamageTotal > 0 {
		s.Damaged++
	}
	if folder := filepath.Dir(r.Path); r.Kind == string(userdir.Solo) && !s.owners[folder] {
		s.owners[folder] = true
		s.Characters++
	}
	if dir, ok := userdir.Find(r.Path); ok {
		for _, name := range r.Books {
			s.books[s.around.BookOf(dir, name).Path] = true
		}
	}
}

// Finish returns the summary, with what the user folders hold besides their chats,
// and the errors of reading them.
func (s *Summer) Finish(users []userdir.Dir) (Summary, []error) {
	if len(users) == 0 {
		return s.Summary, nil
	}
	var errs []error
	groups := 0
	books := &Lorebooks{}
	for _, dir := range users {
		set, err := s.around.Groups(dir)
		if err != nil {
			errs = append(errs, err)
		} else {
			groups += len(set.Files)
			errs = append(errs, set.Bad...)
		}

		entries, err := os.ReadDir(dir.Worlds())
		if err != nil && !os.IsNotExist(err) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), lorebook.Extension)
			switch {
			case !ok || name == "" || !e.Type().IsRegular():
			case s.books[filepath.Join(dir.Worlds(), e.Name())]:
				books.Used = append(books.Used, name)
			default:
				books.Unused = append(books.Unused, name)
			}
		}
	}

	slices.Sort(books.Used)
	slices.Sort(books.Unused)
	s.Groups = &groups
	s.Lorebooks = books
	return s.Summary, errs
}

// Row is a chat in a table.
type Row struct {
	Report *Report
	Depth  int // how many chats above it are in the table: 0 for one without a parent there
}

// Tree orders chats so that each follows its parent, as far as names lead to that
// ([family.New]), and returns how deep each one is.
func Tree(reports []*Report) []Row {
	chats := make([]*family.Chat, len(reports))
	reportOf := make(map[*family.Chat]*Report, len(reports))
	byFolder := map[string][]*family.Chat{}
	for i, r := range reports {
		c := r.kin()
		chats[i] = c
		reportOf[c] = r
		folder := filepath.Dir(r.Path)
		byFolder[folder] = append(byFolder[folder], c)
	}

	for _, list := range byFolder {
		names := make([]string, len(list))
		for i, c := range list {
			names[i] = c.Name
		}
		family.New(library.NamesOf(names), list, family.ByLinks)
	}

	rows := make([]Row, 0, len(reports))
	for _, root := range chats {
		if root.Parent != nil {
			continue
		}
		family.Walk(root, func(c *family.Chat, depth int) {
			rows = append(rows, Row{reportOf[c], depth})
		})
	}
	return rows
}

// kin returns the chat with the names in it by which its relatives are found.
func (r *Report) kin() *family.Chat {
	c := &family.Chat{Path: r.Path, Name: r.Name}
	if r.MainChat != nil {
		c.MainChat = *r.MainChat
	}
	for _, l := range r.Checkpoints {
		c.Links = append(c.Links, family.Link{Kind: family.Checkpoint, Name: l.Name, Index: l.At})
	}
	for _, l := range r.Branches {
		c.Links = append(c.Links, family.Link{Kind: family.Branch, Name: l.Name, Index: l.At})
	}
	return c
}
