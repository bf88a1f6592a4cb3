package main

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed story
var stories embed.FS

// A turn is one message of a story as the text file tells it.
type turn struct {
	who        string         // speaker, as after the @
	texts      []string       // what was said: one text, or one per swipe
	chosen     int            // the swipe that was kept
	hidden     bool           // %hidden: by SillyTavern's /hide
	comment    bool           // %comment: by its /comment
	took       string         // %api: seconds to the first token, as written
	reason     string         // %reason: the model's thinking
	images     []illustration // %image and its %refine
	attached   string         // %attach: a picture's file name
	scene      string         // %scene: an Auto-Recap scene ends here
	checkpoint string         // %checkpoint: a checkpoint of this name hangs here
	branch     string         // %branch: a branch of this suffix hangs here
}

// An illustration is a picture Auto-Illustrator made for a prompt in the text.
type illustration struct {
	file, prompt string
	refines      bool // made again, from a changed prompt, for the image before
}

// readStory parses story/<name>.txt. "#" at the top is a remark, "@who" begins
// a message, "%word …" describes the message it stands in, everything else is
// text. "%swipe" begins one more alternative, "%chosen" picks the alternative
// it stands in; without it the first is kept.
func readStory(name string) ([]turn, error) {
	data, err := stories.ReadFile("story/" + name + ".txt")
	if err != nil {
		return nil, err
	}
	var (
		turns []turn
		text  []string
	)
	flush := func() {
		if said := strings.TrimSpace(strings.Join(text, "\n")); said != "" {
			t := &turns[len(turns)-1]
			t.texts = append(t.texts, said)
		}
		text = nil
	}
	for i, line := range strings.Split(string(data), "\n") {
		if who, ok := strings.CutPrefix(line, "@"); ok {
			flush()
			turns = append(turns, turn{who: who})
			continue
		}
		if len(turns) == 0 {
			continue
		}
		directive, ok := strings.CutPrefix(line, "%")
		if !ok {
			text = append(text, line)
			continue
		}
		t := &turns[len(turns)-1]
		word, rest, _ := strings.Cut(directive, " ")
		switch word {
		case "swipe":
			flush()
		case "chosen":
			flush()
			t.chosen = len(t.texts) - 1
		case "hidden":
			t.hidden = true
		case "comment":
			t.comment = true
		case "api":
			t.took = rest
		case "reason":
			t.reason = rest
		case "image", "refine":
			file, prompt, _ := strings.Cut(rest, " ")
			t.images = append(t.images, illustration{file, prompt, word == "refine"})
		case "attach":
			t.attached = rest
		case "scene":
			t.scene = rest
		case "checkpoint":
			t.checkpoint = rest
		case "branch":
			t.branch = rest
		default:
			return nil, fmt.Errorf("story/%s.txt:%d: %%%s is not a directive", name, i+1, word)
		}
	}
	if len(turns) > 0 {
		flush()
	}
	for i, t := range turns {
		if len(t.texts) == 0 {
			return nil, fmt.Errorf("story/%s.txt: message %d (@%s) says nothing", name, i, t.who)
		}
	}
	return turns, nil
}
