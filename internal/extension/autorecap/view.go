package autorecap

import (
	"fmt"
	"time"

	"stchat/internal/extension"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// SceneCounts counts the scenes that end with messages of a chat.
type SceneCounts struct{ Breaks, Hidden, Recaps int }

// View is what Auto-Recap keeps in a chat.
type View struct {
	Name         string  `json:"name"`  // "auto-recap"
	Known        bool    `json:"known"` // true
	Bytes        int64   `json:"bytes"` // of its metadata
	ChatID       *string `json:"chat_id"`
	Versions     int     `json:"versions"` // of the running recap
	Current      *int    `json:"current"`  // the version in use
	SceneBreaks  int     `json:"scene_breaks"`
	HiddenBreaks int     `json:"hidden_scene_breaks"`
	SceneRecaps  int     `json:"scene_recaps"`
	Pending      int     `json:"pending"` // operations in the metadata, not in the lorebook's queue
}

// View describes the running recap, and the scenes in Counts.
func (e *Extension) View(v *extension.Viewing) extension.View {
	if v.Bytes == 0 && e.Counts == (SceneCounts{}) {
		return nil
	}
	view := &View{
		Name: "auto-recap", Known: true, Bytes: v.Bytes,
		SceneBreaks: e.Counts.Breaks, HiddenBreaks: e.Counts.Hidden, SceneRecaps: e.Counts.Recaps,
	}
	running, _ := RunningIn(v.Metadata)
	for range running.Versions() {
		view.Versions++
	}
	if id, ok := running.ChatID(); ok {
		view.ChatID = &id
	}
	view.Current = rawjson.IntOrNil(running.Current())
	view.Pending = Pending(v.Metadata, time.Time{}).All
	return view
}

// Cells returns what there is, for people.
func (v *View) Cells() (label string, cells []string) {
	current := "none current"
	if v.Current != nil && v.Versions > 0 {
		current = fmt.Sprintf("version %d current", *v.Current)
	}
	cells = []string{plural.S(v.Versions, "recap version"), current, plural.S(v.SceneBreaks, "scene break"), plural.S(v.SceneRecaps, "scene recap")}
	if v.HiddenBreaks > 0 {
		cells = append(cells, plural.S(v.HiddenBreaks, "hidden scene break"))
	}
	if v.Pending > 0 {
		cells = append(cells, plural.S(v.Pending, "operation")+" pending")
	}
	return "Auto-Recap", cells
}
