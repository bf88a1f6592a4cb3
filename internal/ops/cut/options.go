package cut

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/extension"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/progress"
)

// Stdout is the output path that means standard output.
const Stdout = "-"

// Ways to fill the integrity slug of a new chat; any other value is the slug.
const (
	IntegrityNew  = "new"  // a fresh UUID, as in SillyTavern 1.19
	IntegrityKeep = "keep" // the source's, as in SillyTavern 1.12.14 to 1.18
	IntegrityNone = "none" // no key at all
)

// What to do with the chat's lorebook.
const (
	LorebookShare    = "share"
	LorebookClone    = "clone"
	LorebookSnapshot = "snapshot"
)

// Options says how to make checkpoints and branches of the sources.
type Options struct {
	Kind    names.Kind
	Sources []string      // chat files; "-" reads Stdin
	At      int           // last message kept; negative: counted from the end
	AtName  string        // instead of At: a checkpoint or branch; the last message is the one it hangs on
	AsOf    time.Time     // instead of At: the last message not later than this; zero: use At
	AtOne   choose.Choice // instead of At: the one chosen message; the zero Choice: use At

	Name      string // empty: generated
	Style     names.Style
	Output    string // a path instead of a derived name, or Stdout; empty: derive it
	IfMissing bool   // an existing chat of the name, made from the source, counts as done

	Values    patch.Changes // changes to the metadata
	Integrity string        // IntegrityNew, IntegrityKeep, IntegrityNone or a slug
	MainChat  *string       // instead of the source's name; nil: that name; empty: no key

	Message MessageEdit // of the last message; nil: leave it as in the source

	Open          bool // make the owner open with the new chat
	Link          bool // link the source's last kept message to the new chat
	BumpIntegrity bool // and give the source a new slug

	Lorebook string            // LorebookShare, LorebookClone or LorebookSnapshot
	Internal lorebook.Internal // what a clone does with extension-internal entries
	Drop     []string          // globs of entry comments; a clone leaves out matching entries
	Isolate  bool              // restore extension state as it was at the last message
	Require  []string          // what must hold at the last message

	Data        string // the user folder
	SkipDamaged bool
	Force       bool
	Changes     changeset.Options

	Content  *os.File          // the content of the only source, instead of what is at its path
	Sidecars map[string][]byte // with it: by namespace, what Luker kept beside that content; nil: what is beside the source
	Stdin    io.Reader
	Stdout   io.Writer
	Meter    *progress.Meter
}

// MessageEdit edits the last message of a new chat, and returns the new line.
type MessageEdit func(m *SourceMessage) ([]byte, error)

// SourceMessage is a message of a source.
type SourceMessage struct {
	Index    int
	IsLast   bool // the source ends with it
	Line     []byte
	Metadata *rawjson.Object // of the source
}

// ErrUnedited means that an edit changes nothing in the message of which a branch was to be made.
var ErrUnedited = error(&ops.Kind{Code: "refused", Text: "the edit changes nothing, so no branch is made"})

// clones reports whether the new chats get lorebooks of their own.
func (o *Options) clones() bool { return o.Lorebook != LorebookShare }

// workers returns how many goroutines may work on one source: 0, for all, if it is the only
// one, else 1, since the sources themselves are worked on in parallel.
func (o *Options) workers() int {
	if len(o.Sources) > 1 {
		return 1
	}
	return 0
}

// readsFirst reports whether the messages are read before the new chats get their names: to choose
// the last one, or for names that have its index in them.
func (o *Options) readsFirst() bool { return !o.AtOne.All() || o.nameNeedsIndex() }

// needsState reports whether a new chat depends on what extensions kept as of its last message.
func (o *Options) needsState() bool {
	return o.Isolate || len(o.Require) > 0 || o.Lorebook == LorebookSnapshot
}

// nameNeedsIndex reports whether the generated names contain the index of the last message, and
// it is not given.
func (o *Options) nameNeedsIndex() bool {
	isGenerated := o.Output == "" && o.Name == ""
	if !isGenerated || o.Kind != names.Branch {
		return false
	}
	if o.Style == names.SillyTavern || o.Style == names.Version {
		return false // these styles name no message
	}
	isFromEnd := o.At < 0 || !o.AsOf.IsZero()
	return isFromEnd && o.AtName == ""
}

// Result is the result for one source.
type Result = ops.Result[Document]

// Document is the JSON document about one checkpoint or branch.
type Document struct {
	Schema int    `json:"schema"`
	Source string `json:"source" is:"path"`
	Made
}

// Made is what a document says of a new chat.
type Made struct {
	Path         string             `json:"path" is:"path"`
	Kind         string             `json:"kind"`
	Name         *string            `json:"name"`
	At           int                `json:"at"`
	Messages     int                `json:"messages"`
	Bytes        int64              `json:"bytes"`
	MainChat     *string            `json:"main_chat"`
	Integrity    *string            `json:"integrity"`
	Lorebook     *Lorebook          `json:"lorebook"` // the first of Lorebooks
	Lorebooks    []Lorebook         `json:"lorebooks"`
	Group        *string            `json:"group" is:"path"`
	Linked       bool               `json:"linked"`
	ReplacedLink *string            `json:"replaced_link"`
	State        []extension.Change `json:"state"`
	Sidecars     []ops.Sidecar      `json:"sidecars"`
	Skipped      []Skipped          `json:"skipped"` // at most the first jsonl.MaxDamage
	SkippedTotal int                `json:"skipped_total"`
	Warnings     []string           `json:"warnings"`
	DryRun       bool               `json:"dry_run"`
	Existed      bool               `json:"existed"` // it had been made before
	ops.Written
}

// Lorebook is a lorebook that the new chat names.
type Lorebook struct {
	Name    string  `json:"name"`
	From    string  `json:"from"`
	Path    *string `json:"path" is:"path"`
	Cloned  bool    `json:"cloned"`
	Dropped int     `json:"dropped"`
}

// What becomes of a sidecar.
const (
	SidecarCut   = "cut"        // a floor log, up to the last message
	SidecarEmpty = "empty"      // a floor log with nothing left: no file
	SidecarFresh = "fresh"      // chat_sync with the new chat's slug
	SidecarLeft  = "not copied" // it belongs to the source alone
)

// Skipped is a damaged line that was left out, or a byte order mark that was ignored.
type Skipped struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
	BOM    bool   `json:"-"`
}

// fromHeader takes over what the metadata of the new chat say of it.
func (d *Document) fromHeader(md *rawjson.Object) {
	d.MainChat = rawjson.TextOrNil(md.Value(keyMainChat))
	d.Integrity = rawjson.TextOrNil(md.Value(keyIntegrity))
}

// skip adds damaged lines.
func (d *Document) skip(damage jsonl.Damages) {
	d.SkippedTotal += damage.Total
	for _, line := range damage.First[:min(len(damage.First), jsonl.MaxDamage-len(d.Skipped))] {
		d.Skipped = append(d.Skipped, Skipped{line.Line, line.Column, line.Reason, line.Code == jsonl.BOM})
	}
}

// LeftOut returns how many damaged lines were left out, and whether a byte order mark was: of the line that it
// stands before nothing is lost.
func (d *Document) LeftOut() (lines int, mark bool) {
	mark = slices.ContainsFunc(d.Skipped, func(s Skipped) bool { return s.BOM })
	lines = d.SkippedTotal
	if mark {
		lines--
	}
	return lines, mark
}

// changed adds changes of state, and warns of what was left.
func (d *Document) changed(changes []extension.Change) {
	d.State = append(d.State, changes...)
	for _, ch := range changes {
		if ch.Left {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s: %s", d.Source, ch.Extension, ch.Change))
		}
	}
}

// addBook adds a lorebook that the new chat names.
func (d *Document) addBook(book Lorebook) {
	d.Lorebooks = append(d.Lorebooks, book)
	if d.Lorebook == nil {
		d.Lorebook = &book
	}
}

// sidecar adds a sidecar and what became of it.
func (d *Document) sidecar(path, action string) {
	d.Sidecars = append(d.Sidecars, ops.Sidecar{Path: path, Action: action})
}
