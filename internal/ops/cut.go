package ops

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/names"
	"stchat/internal/progress"
	"stchat/internal/safefile"
)

// Stdout is the output path that stands for standard output.
const Stdout = "-"

// Ways to fill the integrity slug of a new chat; any other value is the slug.
const (
	IntegrityNew  = "new"  // a fresh UUID, as SillyTavern 1.19
	IntegrityKeep = "keep" // the source's, as SillyTavern 1.12.14 to 1.18
	IntegrityNone = "none" // no key
)

// CutOptions says what checkpoint and branch make of their sources.
type CutOptions struct {
	Kind    names.Kind
	Sources []string // chat files; "-" reads Stdin
	At      int      // last message kept; below 0 counted from the end

	Name   string // empty: one is generated
	Style  names.Style
	Output string // a path instead of a derived name, or "-"; empty: none

	With      []byte // an object to merge into the metadata, or nil
	Replace   bool   // With takes the metadata's place instead
	Edits     []meta.Edit
	Integrity string  // IntegrityNew, IntegrityKeep, IntegrityNone or a slug
	MainChat  *string // instead of the source's name; empty: no key

	Swipe int // swipe to choose on the last message; below 0: as it is

	Link          bool // note the new chat in the source
	BumpIntegrity bool // and give the source a new slug

	State StateOptions

	Data        string // the user folder
	NoGroup     bool
	SkipDamaged bool
	Force       bool
	NoSync      bool
	DryRun      bool

	// Again are the flags, beside those for place, name and slug, that a call
	// needs which makes the same chat again: for the message that says so.
	Again []string

	Stdin   io.Reader
	Stdout  io.Writer
	Now     time.Time
	NewUUID func() string
	Meter   *progress.Meter
}

// CutResult is one checkpoint or branch: the document of SPEC.md section 7.
type CutResult struct {
	Schema       int           `json:"schema"`
	Source       string        `json:"source"`
	Path         string        `json:"path"`
	Kind         string        `json:"kind"`
	Name         *string       `json:"name"`
	At           int           `json:"at"`
	Messages     int           `json:"messages"`
	Bytes        int64         `json:"bytes"`
	MainChat     *string       `json:"main_chat"`
	Integrity    *string       `json:"integrity"`
	Lorebook     *CutLorebook  `json:"lorebook"`
	Group        *string       `json:"group"`
	Linked       bool          `json:"linked"`
	ReplacedLink *string       `json:"replaced_link"`
	State        []StateChange `json:"state"`
	Sidecars     []Sidecar     `json:"sidecars"`
	Skipped      []Skipped     `json:"skipped"`
	Warnings     []string      `json:"warnings"`
	DryRun       bool          `json:"dry_run"`

	Err     error    `json:"-"` // why the chat was not written, or what is missing after it
	More    []error  `json:"-"` // what else is missing
	Written bool     `json:"-"` // the chat is there, or would be
	InPlace bool     `json:"-"` // the source was, or would be, edited in place
	Notes   []string `json:"-"` // remarks that are no warnings
	Actions []string `json:"-"` // what a dry run would do, in order
}

// CutLorebook is the lorebook that the new chat names.
type CutLorebook struct {
	Name    string  `json:"name"`
	From    string  `json:"from"`
	Path    *string `json:"path"`
	Cloned  bool    `json:"cloned"`
	Dropped int     `json:"dropped"`
}

// StateChange is one thing that isolation changed or left.
type StateChange struct {
	Extension string `json:"extension"`
	Change    string `json:"change"`
}

// Sidecar is a file beside a Luker chat and what became of it.
type Sidecar struct {
	Path   string `json:"path"`
	Action string `json:"action"`
}

// Skipped is a damaged line that was left out, or a byte order mark without
// which the line was read.
type Skipped struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
	BOM    bool   `json:"-"`
}

func (r *CutResult) skip(d jsonl.Damage) {
	r.Skipped = append(r.Skipped, Skipped{d.Line, d.Column, d.Reason, d.Code == jsonl.BOM})
}

func (r *CutResult) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// note says something that is no warning.
func (r *CutResult) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// would notes what a dry run leaves undone.
func (r *CutResult) would(format string, args ...any) {
	if r.DryRun {
		r.Actions = append(r.Actions, fmt.Sprintf("would "+format, args...))
	}
}

// cut is one call of checkpoint or branch.
type cut struct {
	*CutOptions
	groups  *groupCache
	books   *bookCache
	folders map[string]*folder
	ids     []sourceID

	mu        sync.Mutex
	databases map[string]string // what luker.InDatabase said, by user folder

	jobs []*cutJob
}

// cutJob is one source on its way to a new chat.
type cutJob struct {
	*cut
	res     *CutResult
	path    string // of the source
	stamp   safefile.Stamp
	name    names.Name     // the new chat's
	target  string         // its path; "-" for standard output
	beside  bool           // the target is in the source's folder
	at      int            // the last message; -1 until it is known
	counted bool           // the whole chat was read to find the last message
	damage  []jsonl.Damage // that it has, where it was
	chat    *chat.Chat
	last    jsonl.Place // where the last message is in the source
	link    link        // what notes it there, with --link; of several on one message the first has all
	group   string      // the group file to which the new name goes, or ""
	luker   lukerPlan
	book    *bookPlan // the clone of its lorebook, or nil
}

// Cut makes a checkpoint or a branch of every source, each with messages 0 to
// At inclusive, and gives a result a source in their order. An error on one
// stands in its result and does not stop the others; the error that Cut itself
// gives is about the call as a whole.
func Cut(ctx context.Context, opt CutOptions) ([]*CutResult, error) {
	c := &cut{CutOptions: &opt, groups: new(groupCache), books: new(bookCache), folders: map[string]*folder{}, databases: map[string]string{}}
	for _, path := range opt.Sources {
		j := &cutJob{cut: c, path: path, at: -1}
		j.res = &CutResult{
			Schema: 1, Source: path, Kind: opt.Kind.String(), DryRun: opt.DryRun, At: opt.At,
			State: []StateChange{}, Sidecars: []Sidecar{}, Skipped: []Skipped{}, Warnings: []string{},
		}
		c.jobs = append(c.jobs, j)
	}
	c.plan(ctx)
	c.removeStale()
	each(ctx, len(c.jobs), func(i int) { c.jobs[i].run(ctx) })
	// what is published is completed, also when the call was interrupted
	c.joinGroups()
	c.linkSources(context.WithoutCancel(ctx))
	results := make([]*CutResult, len(c.jobs))
	for i, j := range c.jobs {
		if !j.res.Written && j.res.Err == nil {
			j.res.Err = fmt.Errorf("%s: not begun: %w", label(j.path), ctx.Err())
		}
		results[i] = j.res
	}
	return results, nil
}

// label is a source's path as a person knows it.
func label(path string) string {
	if path == chat.Stdin {
		return "standard input"
	}
	return path
}
