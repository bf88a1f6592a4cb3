package cut

import (
	"io"
	"os"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/choose"
	"stchat/internal/lorebook"
	"stchat/internal/names"
	"stchat/internal/patch"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
)

// Stdout is the output path that stands for standard output.
const Stdout = "-"

// Ways to fill the integrity slug of a new chat; any other value is the slug.
const (
	IntegrityNew  = "new"  // a fresh UUID, as SillyTavern 1.19
	IntegrityKeep = "keep" // the source's, as SillyTavern 1.12.14 to 1.18
	IntegrityNone = "none" // no key
)

// Ways to take the chat's lorebook.
const (
	LorebookShare    = "share"
	LorebookClone    = "clone"
	LorebookSnapshot = "snapshot"
)

// Options says what checkpoint and branch make of their sources.
type Options struct {
	Kind    names.Kind
	Sources []string      // chat files; "-" reads Stdin
	At      int           // last message kept; below 0 counted from the end
	AtName  string        // instead of At: the checkpoint or branch that hangs on the last message
	AsOf    time.Time     // instead of At: the last message not later; zero: At counts
	AtOne   choose.Choice // instead of At: the one message that is chosen; the zero Choice: At counts

	Name      string // empty: one is generated
	Style     names.Style
	Output    string // a path instead of a derived name, or Stdout; empty: none
	IfMissing bool   // a chat of the name that was made from the source before counts as done

	Values    patch.Changes // what becomes of the metadata
	Integrity string        // IntegrityNew, IntegrityKeep, IntegrityNone or a slug
	MainChat  *string       // instead of the source's name; empty: no key

	Message MessageEdit // of the last message; nil: it is as it is in the source

	Open          bool // the owner opens with the new chat
	Link          bool // note the new chat in the source
	BumpIntegrity bool // and give the source a new slug

	Lorebook string            // LorebookShare, LorebookClone or LorebookSnapshot
	Internal lorebook.Internal // what a clone does with extension-internal entries
	Drop     []string          // globs of comments that a clone leaves out
	Isolate  bool              // extension state as it was at the last message
	Require  []string          // what must hold at the last message

	Data        string // the user folder
	NoGroup     bool
	SkipDamaged bool
	Force       bool
	Changes     changeset.Options

	Content *os.File // what the one source holds, in place of what its path leads to
	Stdin   io.Reader
	Stdout  io.Writer
	Now     time.Time
	NewUUID func() string
	Meter   *progress.Meter
}

// MessageEdit makes an edit of the last message of a new chat. It gets the message's
// index and line, and the metadata of the source.
type MessageEdit func(at int, line []byte, metadata *rawjson.Object) ([]byte, error)

// clones reports whether the new chats get lorebooks of their own.
func (o *Options) clones() bool { return o.Lorebook != LorebookShare }

// needsState reports whether the messages' state must be known before the header
// can be written.
func (o *Options) needsState() bool {
	return o.Isolate || len(o.Require) > 0 || o.Lorebook == LorebookSnapshot
}

// workers returns how many goroutines may work on one source: all where there is
// only one, else the sources themselves are the parallel work.
func (o *Options) workers() int {
	if len(o.Sources) > 1 {
		return 1
	}
	return 0
}

// makeEdits sets and removes single keys of the metadata.
func (o *Options) makeEdits(metadata []byte) ([]byte, error) {
	return patch.Make(metadata, o.Values.Edits)
}

// nameNeedsIndex reports whether the names hold the index of the last message,
// and that index must be looked for.
func (o *Options) nameNeedsIndex() bool {
	timed := o.Style == names.Suffix || o.Style == names.Classic
	return o.AtName == "" && o.AtOne.All() && (o.At < 0 || !o.AsOf.IsZero()) && o.Output == "" && o.Name == "" && o.Kind == names.Branch && timed
}
