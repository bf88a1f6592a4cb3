package autorecap

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/text/plural"
)

// The requirements that can be made of a chat.
const (
	QueueEmpty   = "queue-empty"
	SceneBreak   = "scene-break"
	SceneRecap   = "scene-recap"
	RunningRecap = "running-recap"

	// All stands for all of the above.
	All = "auto-recap"
)

// Requirements returns the names that [ParseRequirements] accepts.
func Requirements() []string {
	return []string{QueueEmpty, SceneBreak, SceneRecap, RunningRecap, All}
}

// ParseRequirements reads a list of requirements, each element one or several separated by
// commas, and returns each once, in the order of [Requirements], with [All] expanded. The
// error names an unknown one.
func ParseRequirements(list []string) ([]string, error) {
	asked := map[string]bool{}
	for _, element := range list {
		for name := range strings.SplitSeq(element, ",") {
			switch name = strings.TrimSpace(name); {
			case name == All:
				for _, each := range Requirements() {
					asked[each] = true
				}
			case !slices.Contains(Requirements(), name):
				return nil, fmt.Errorf("unknown requirement %q; choose from %s", name, strings.Join(Requirements(), ", "))
			default:
				asked[name] = true
			}
		}
	}

	delete(asked, All)
	return slices.DeleteFunc(Requirements(), func(name string) bool { return !asked[name] }), nil
}

// State is what the requirements are judged on.
type State struct {
	At       int             // message N
	Scene    Scene           // what that message says about a scene
	Metadata *rawjson.Object // of the branch, isolated if the branch is
	Book     *lorebook.Book  // the lorebook of the source; nil if it has none
}

// Judge returns which of the requirements that [ParseRequirements] returned do not hold, and why,
// as in "running-recap: current_version 4 is not among versions 0-3". The error is that of a queue
// that cannot be read, since it is unknown whether it is empty, or names an unknown requirement.
func Judge(names []string, s State) (broken []string, err error) {
	for _, name := range names {
		why := ""
		switch name {
		case QueueEmpty:
			why, err = queueEmpty(s)
		case SceneBreak:
			if !s.Scene.Break {
				why = fmt.Sprintf("message %d is not a scene break", s.At)
			} else if s.Scene.Hidden {
				why = fmt.Sprintf("the scene break at message %d is hidden", s.At)
			}
		case SceneRecap:
			if !s.Scene.Recap {
				why = fmt.Sprintf("message %d has no scene recap", s.At)
			}
		case RunningRecap:
			why = runningRecap(s.Metadata)
		default:
			err = fmt.Errorf("unknown requirement %q", name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if why != "" {
			broken = append(broken, name+": "+why)
		}
	}
	return broken, nil
}

// queueEmpty holds if there is no book, no queue, or nothing in the queue that would run. Like
// the other requirements it returns "" if it holds, else why it does not.
func queueEmpty(s State) (why string, err error) {
	if s.Book == nil {
		return "", nil
	}
	q, err := s.Book.Queue()
	if err != nil || q.Pending() == 0 {
		return "", err
	}
	var types []string
	for i := range q {
		if o := &q[i]; o.Pending() && o.Type != "" && !slices.Contains(types, o.Type) {
			types = append(types, o.Type)
		}
	}

	const enough = 5
	if len(types) > enough {
		types = append(types[:enough], "…")
	}
	why = fmt.Sprintf("%s in the queue of the lorebook %q", plural.S(q.Pending(), "pending operation"), s.Book.Name)
	if len(types) > 0 {
		why += " (" + strings.Join(types, ", ") + ")"
	}
	return why, nil
}

// runningRecap holds if the current version exists and has content.
func runningRecap(metadata *rawjson.Object) string {
	running, ok := RunningIn(metadata)
	if !ok {
		return "the metadata has no " + KeyRunning
	}
	current, text := 0.0, "0"
	if raw := running.Current(); len(raw) > 0 && rawjson.KindOf(raw) != rawjson.Null {
		text = string(rawjson.Compact(raw))
		if current, ok = rawjson.Float(raw); !ok {
			return fmt.Sprintf("current_version is %s, not a number", rawjson.KindOf(raw))
		}
	}

	var numbers []float64
	found := false
	for version := range running.Versions() {
		number, ok := version.Number()
		if !ok {
			continue
		}
		numbers = append(numbers, number)
		if number != current {
			continue
		}
		found = true
		if content, _ := rawjson.Unquote(version.Value("content")); content != "" {
			return ""
		}
	}

	switch {
	case found:
		return fmt.Sprintf("version %s has no content", text)
	case len(numbers) == 0:
		return "there are no versions of the running recap"
	}
	return fmt.Sprintf("current_version %s is not among versions %s", text, ranges(numbers))
}

// ranges formats numbers as "0-3, 5".
func ranges(numbers []float64) string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var parts []string
	const enough = 8
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 && numbers[i] == math.Trunc(numbers[i]) {
			end++
		}
		if len(parts) == enough {
			parts = append(parts, "…")
			break
		}
		part := jsvalue.FormatNumber(numbers[i])
		if end > i {
			part += "-" + jsvalue.FormatNumber(numbers[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ", ")
}
