package cut

import (
	"fmt"

	"stchat/internal/isolate"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
)

// Result is the result for one source.
type Result = ops.Result[Document]

// Document is the JSON document about one checkpoint or branch (SPEC.md section 7).
type Document struct {
	Schema       int              `json:"schema"`
	Source       string           `json:"source" is:"path"`
	Path         string           `json:"path" is:"path"`
	Kind         string           `json:"kind"`
	Name         *string          `json:"name"`
	At           int              `json:"at"`
	Messages     int              `json:"messages"`
	Bytes        int64            `json:"bytes"`
	MainChat     *string          `json:"main_chat"`
	Integrity    *string          `json:"integrity"`
	Lorebook     *Lorebook        `json:"lorebook"`
	Group        *string          `json:"group" is:"path"`
	Linked       bool             `json:"linked"`
	ReplacedLink *string          `json:"replaced_link"`
	State        []isolate.Change `json:"state"`
	Sidecars     []ops.Sidecar    `json:"sidecars"`
	Skipped      []Skipped        `json:"skipped"` // at most the first jsonl.MaxDamage
	SkippedTotal int              `json:"skipped_total"`
	Warnings     []string         `json:"warnings"`
	DryRun       bool             `json:"dry_run"`
	Existed      bool             `json:"existed"` // it had been made before
	ops.Written
}

// Lorebook is the lorebook that the new chat names.
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

func newResult(opt *Options, source string) *Result {
	return &Result{Doc: Document{Schema: 1, Source: source, Kind: opt.Kind.String(), DryRun: opt.Changes.DryRun, At: opt.At}}
}

// skip adds damaged lines.
func (d *Document) skip(damage jsonl.Damages) {
	d.SkippedTotal += damage.Total
	for _, line := range damage.First[:min(len(damage.First), jsonl.MaxDamage-len(d.Skipped))] {
		d.Skipped = append(d.Skipped, Skipped{line.Line, line.Column, line.Reason, line.Code == jsonl.BOM})
	}
}

// changed adds changes of state, and warns of what was left.
func (d *Document) changed(changes []isolate.Change) {
	d.State = append(d.State, changes...)
	for _, ch := range changes {
		if ch.Left {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s: %s", d.Source, ch.Extension, ch.Change))
		}
	}
}

// sidecar adds a sidecar and what became of it.
func (d *Document) sidecar(path, action string) {
	d.Sidecars = append(d.Sidecars, ops.Sidecar{Path: path, Action: action})
}
