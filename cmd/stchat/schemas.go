package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"stchat/internal/folder/inspect"
	"stchat/internal/json/jsondoc"
	"stchat/internal/ops"
	"stchat/internal/ops/book"
	"stchat/internal/ops/bring"
	"stchat/internal/ops/copying"
	"stchat/internal/ops/cut"
	"stchat/internal/ops/dataset"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/ops/merge"
	"stchat/internal/ops/move"
	"stchat/internal/ops/past"
	"stchat/internal/ops/publish"
	"stchat/internal/ops/repair"
	"stchat/internal/ops/state"
	"stchat/internal/show/report"
	"stchat/internal/show/treeview"
)

func newSchemas() verb {
	return verb{
		use: "schemas DIR", short: "Write the schemas of the JSON documents into a folder",
		doc: `Write a JSON Schema (2020-12) of each document that --json prints into the
folder DIR, made from the types that are printed.
`, hidden: true, // for who changes a document: the schemas are in docs/schema
		example: "  stchat schemas docs/schema",
		args:    cobra.ExactArgs(1),
		plain:   true,
		options: flagless(func(_ *console, args []string) error {
			for _, d := range documents() {
				schema := jsondoc.Schema(d.of)
				schema["title"] = "stchat: " + d.section
				var page bytes.Buffer
				if err := jsondoc.Write(&page, schema, "  "); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(args[0], d.name+".json"), page.Bytes(), 0o644); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// document is one that --json prints.
type document struct {
	name    string // of its schema
	section string // of docs/json.md
	of      any    // its type
}

// documents lists the documents, in the order of docs/json.md.
func documents() []document {
	return []document{
		{"error", "what failed", errorDocument{}},
		{"checkpoint", "checkpoint, branch", cut.Document{}},
		{"checkpoint-summary", "checkpoint, branch: the last document", cutSummary{}},
		{"copy", "copy", cut.Document{}},
		{"join", "join", copying.JoinDocument{}},
		{"clone-lorebook", "clone-lorebook", book.Clone{}},
		{"import", "import", bring.Document{}},
		{"inspect", "inspect", inspect.Report{}},
		{"inspect-summary", "inspect: the last document", inspect.Summary{}},
		{"inspect-lorebook", "inspect: a lorebook", inspect.Book{}},
		{"list", "list", look.Listed{}},
		{"inspect-message", "inspect --messages", inspect.Message{}},
		{"message", "show", look.Message{}},
		{"message-count", "show --count", messageCount{}},
		{"edit", "add, delete, edit, hide, swipe, unhide; meta set", edit.Document{}},
		{"edit-summary", "delete, edit, hide, unhide; meta set: the last document", editSummary{}},
		{"lost", "lost", keep.LostChat{}},
		{"lost-item", "lost: of a chat that is named", keep.LostItem{}},
		{"lost-summary", "lost: the last document", keep.LostSummary{}},
		{"search", "search", look.SearchHit{}},
		{"move", "rename, move, rm", move.Moved{}},
		{"rm-kept", "rm --older-than, --checkpoints: the last document", keptChats{}},
		{"merge", "merge", merge.Row{}},
		{"merge-summary", "merge, the summary", merge.Summary{}},
		{"open", "open", move.Opened{}},
		{"new", "new", move.Made{}},
		{"metadata", "meta get", look.Metadata{}},
		{"state-list", "state get PATH", state.List{}},
		{"state-get", "state get PATH NS", state.Values{}},
		{"state-log", "state get --log", state.Log{}},
		{"state-set", "state set", state.Changed{}},
		{"export", "export", publish.Document{}},
		{"stats", "stats", look.Tally{}},
		{"stats-summary", "stats: the summary", look.Statistics{}},
		{"export-data", "export, openai, sharegpt, rows", dataset.Document{}},
		{"export-row", "export --format rows: a line", dataset.Row{}},
		{"export-summary", "export: the summary", publish.Summary{}},
		{"diff-meta", "diff-meta", ops.MetaDiff{}},
		{"diff", "diff", look.Difference{}},
		{"diff-summary", "diff: the summary", look.Diffed{}},
		{"check", "check", report.Document{}},
		{"check-summary", "check: the last document", report.Summary{}},
		{"check-rule", "check --list-rules", listedRule{}},
		{"repair", "repair", repair.Document{}},
		{"tree", "tree", treeview.Chat{}},
		{"tree-summary", "tree: the last document", treeview.Summary{}},
		{"store", "store", keep.History{}},
		{"log", "log", keep.Logged{}},
		{"log-changes", "log --rev, --as-of", keep.Changed{}},
		{"log-folder", "log FOLDER", keep.Ran{}},
		{"log-as-of", "log FOLDER --as-of", keep.Kept{}},
		{"restore", "restore", keep.Restored{}},
		{"split", "split", cut.PartDocument{}},
		{"slim", "slim", edit.Slimmed{}},
		{"snapshot", "snapshot", keep.Taken{}},
		{"snapshot-summary", "snapshot: the last document", keep.Snapshotted{}},
		{"undo", "undo", past.Undone{}},
		{"redo", "redo", past.Redone{}},
		{"undo-record", "log --commands; undo --prune, --keep", past.Listed{}},
		{"version", "version", versionInfo{}},
	}
}
