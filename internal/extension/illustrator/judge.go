package illustrator

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/visible"
)

// Watch reads which prompts there are.
func (e *Extension) Watch(metadata *rawjson.Object) { e.registry, e.places = Read(metadata), Places{} }

// Sight sees the markers in the message's text and swipes, each prompt once; where there are very
// many, some may repeat. A single swipe is not read, since it is the same as the text or gives way
// to it.
func (*Extension) Sight(s *extension.Sighting) {
	const looked = 32
	for _, raw := range s.Texts {
		for id := range Markers(raw) {
			same := func(seen extension.Sight) bool { return seen.ID == id }
			if !slices.ContainsFunc(s.Seen[:min(len(s.Seen), looked)], same) {
				s.See(strings.Clone(id), raw)
			}
		}
	}
}

// Sighted notes where a prompt's marker lies.
func (e *Extension) Sighted(i int, id string) (rule, fault string) {
	if !e.registry.Has(id) {
		return "prompt-marker", "a marker names the prompt " + visible.Brief(id) + ", which is not there"
	}
	e.places.Add(id, i)
	return "", ""
}

// Judge reports what is wrong in the registry by itself, what is of messages beyond the last one,
// prompts that no longer belong where they say, and images that are not there.
func (e *Extension) Judge(j *extension.Judging) {
	registry := Read(j.Metadata)
	if registry == nil {
		return
	}
	for _, d := range registry.Drifts(e.places) {
		f := extension.Finding{Rule: "prompt-drift", Message: d.Fault, Whole: true}
		if d.Why != "" {
			f.ByHand = "put it right by hand: " + d.Why
		}
		j.Find(f)
	}

	for _, fault := range registry.Misshapen() {
		j.Report("prompt-shape", fault)
	}
	open, prompts := 0, 0
	for raw := range rawjson.Elements(registry.open) {
		if isBeyond(raw, j.Messages) {
			open++
		}
	}

	for i := range registry.prompts {
		if isBeyond(registry.prompts[i].message, j.Messages) {
			prompts++
		}
	}

	if open > 0 {
		j.Report("beyond-end", fmt.Sprintf("messages open in Auto-Illustrator's gallery that are beyond the last one: %d", open))
	}
	if prompts > 0 {
		j.Report("beyond-end", fmt.Sprintf("prompts of Auto-Illustrator for messages beyond the last one: %d", prompts))
	}
	registry.Dangling(func(fault string) { j.Report("prompt-dangling", fault) })
	if j.Serves == nil {
		return
	}
	for i := range registry.prompts {
		for raw := range rawjson.Elements(registry.prompts[i].pictures) {
			if bytes.HasPrefix(raw, []byte(`"data:`)) {
				continue
			}
			address, _ := rawjson.Unquote(raw)
			if exists, ours := j.Serves(address); address != "" && !exists && ours {
				j.Find(extension.Finding{
					Rule: "missing-attachment", Whole: true, Message: fmt.Sprintf("%q of a prompt is not there", visible.Brief(address)),
					ByHand: "restore the file: the prompt finds its picture in the message's text by this address",
				})
			}
		}
	}
}

// Repair repairs the registry. The markers in messages follow the prompts that get a new id.
func (e *Extension) Repair(m *extension.Repairing) {
	note := func(rule string, list []extension.Repaired) {
		for _, one := range list {
			one.Rule = rule
			m.Note(one)
		}
	}

	if m.Wants("prompt-shape") {
		note("prompt-shape", FixShape(m.Metadata))
	}
	if m.Wants("beyond-end") {
		Prune(m.Metadata, m.Messages, func(what string, raw []byte) {
			text := "removed " + what
			if what == openMessage {
				text = "closed the message " + visible.Clip(string(raw), 120) + " in the gallery"
			}
			m.Note(extension.Repaired{Rule: "beyond-end", Text: text, What: what, Lost: raw})
		})
	}

	if m.Wants("prompt-dangling") {
		note("prompt-dangling", FixDangling(m.Metadata))
	}
	if m.Wants("prompt-drift") {
		list, renamed := FixDrift(m.Metadata, e.places)
		note("prompt-drift", list)
		m.Line = func(line []byte) ([]byte, extension.Repaired) {
			return renamed.Line(line), extension.Repaired{Rule: "prompt-drift", Text: "the markers name the prompts as they are called now"}
		}
	}
}
