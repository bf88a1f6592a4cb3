package merge

import (
	"fmt"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/text/progress"
)

// Options says what is merged into what, and how.
type Options struct {
	Into string // a chat, a folder of chats, a group's file or a user folder
	From string // the same of the other side, or, if Into is a user folder, what lies in another one

	Conflicts bool // instead of From: the conflict files in Into, a user folder

	Base string // what both came from, the same kind of thing; "": unknown

	Owners        map[string]string // folders of chats of FROM and those of INTO that they are
	BumpIntegrity bool              // a new slug in each chat that is edited in place

	Changes changeset.Options
	Meter   *progress.Meter

	label string // in the names of branches; "": after FROM's folder
	part  string // what of FROM, a user folder, is meant: a path in it, with slashes; "": all
}

// Kind is what a row is about.
type Kind string

// The kinds.
const (
	SoloChat       Kind = "chat"
	GroupKind      Kind = "group"
	BookKind       Kind = "lorebook"
	CardKind       Kind = "card"
	AttachmentKind Kind = "attachment"
)

// Row is what became of one thing of FROM.
type Row struct {
	Schema  int      `json:"schema"`
	Kind    Kind     `json:"kind"`
	Sign    Sign     `json:"sign"`
	Path    string   `json:"path" is:"path"` // in INTO
	From    string   `json:"from" is:"path"`
	To      *string  `json:"to" is:"path"` // the new file; null: none
	By      *By      `json:"by"`           // why both are one; null: FROM's is new
	At      *int     `json:"at"`           // the first message that differs; null: none does, or it is new
	Noted   *int     `json:"noted"`        // the message of INTO that names the branch
	Own     int      `json:"own"`          // messages that only INTO's has
	OwnFrom int      `json:"own_from"`     // messages that only FROM's has
	Links   int      `json:"links"`        // that were put
	Renamed []Rename `json:"renamed"`
	Told    []string `json:"told"`
	Error   *string  `json:"error"`

	Err error `json:"-"`
}

// Rename is a name of FROM that became another one in INTO.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Summary is the last document of a merge.
type Summary struct {
	Schema  int      `json:"schema"`
	Summary bool     `json:"summary"`
	Same    int      `json:"same"`  // rows with =
	Ahead   int      `json:"ahead"` // INTO has more: <
	Done    int      `json:"done"`
	Refused int      `json:"refused"`
	Left    []string `json:"left"` // what is never merged, and is there
	DryRun  bool     `json:"dry_run"`
	ops.Written
}

// Result is the result of a merge.
type Result struct {
	ops.Result[Summary]
	Rows []*Row
}

func (r *Row) tell(list ...string) { r.Told = append(r.Told, list...) }

// rename notes what a name of FROM is in INTO, if that is another one.
func (r *Row) rename(from, to string) {
	if from != to {
		r.Renamed = append(r.Renamed, Rename{from, to})
	}
}

// keysTold joins keys for people, the first few of many.
func keysTold(keys []string) string {
	const shown = 6
	if more := len(keys) - shown; more > 0 {
		keys = append(slices.Clone(keys[:shown]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(keys, ", ")
}

// wanted reports whether a path in FROM, with slashes, is meant, or a folder that it is in.
func (opt *Options) wanted(place string) bool {
	return opt.part == "" || place == opt.part || strings.HasPrefix(place, opt.part+"/")
}

// overlaps reports whether something in a folder of FROM is meant.
func (opt *Options) overlaps(folder string) bool {
	return opt.wanted(folder) || strings.HasPrefix(opt.part, folder+"/")
}
