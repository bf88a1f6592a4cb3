package inspect

import (
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/names"
)

// Row is a chat in a table.
type Row struct {
	*Report
	Depth int // how many chats above it are in the table: 0 for one without a parent there
}

// Tree orders chats so that each comes behind its parent, checkpoints and
// branches in the order they were given, and tells how deep each one hangs.
//
// A chat's parent is the one that its main_chat names, in the same folder.
// Where it names none there, it is a chat that has a link to it; and for a
// checkpoint of SillyTavern up to 1.14 that has lost its main_chat, the one
// that its own name begins with (FORMATS.md E4.1). A chat that is its own
// ancestor hangs nowhere.
func Tree(reports []*Report) []Row {
	byPlace := make(map[[2]string]int, len(reports))
	folder := func(r *Report) string { return filepath.Dir(r.Path) }
	for i, r := range reports {
		byPlace[[2]string{folder(r), r.Name}] = i
	}
	find := func(folder, name string) (int, bool) {
		if i, ok := byPlace[[2]string{folder, name}]; ok {
			return i, true
		}
		safe, err := names.Sanitize(name)
		i, ok := byPlace[[2]string{folder, safe}]
		return i, ok && err == nil
	}
	parents := make([]int, len(reports))
	linked := map[int]int{}
	for i, r := range reports {
		for _, links := range [][]Link{r.Checkpoints, r.Branches} {
			for _, l := range links {
				if child, ok := find(folder(r), l.Name); ok {
					if _, known := linked[child]; !known && child != i {
						linked[child] = i
					}
				}
			}
		}
	}
	for i, r := range reports {
		parents[i] = -1
		if r.MainChat != nil {
			if p, ok := find(folder(r), *r.MainChat); ok && p != i {
				parents[i] = p
				continue
			}
		}
		if p, ok := linked[i]; ok {
			parents[i] = p
		} else if at := strings.LastIndex(r.Name, "Checkpoint #"); at > 0 && r.MainChat == nil {
			if p, ok := find(folder(r), strings.TrimSpace(r.Name[:at])); ok && p != i {
				parents[i] = p
			}
		}
	}
	cutCircles(parents)
	return rows(reports, parents)
}

// cutCircles takes the parent from one chat of every circle.
func cutCircles(parents []int) {
	const fresh, onWay, done = 0, 1, 2
	state := make([]int, len(parents))
	for i := range parents {
		var way []int
		at := i
		for at >= 0 && state[at] == fresh {
			state[at] = onWay
			way = append(way, at)
			at = parents[at]
		}
		if at >= 0 && state[at] == onWay {
			parents[at] = -1
		}
		for _, j := range way {
			state[j] = done
		}
	}
}

// rows puts every chat behind its parent.
func rows(reports []*Report, parents []int) []Row {
	children := make([][]int, len(reports))
	var stack []Row
	out := make([]Row, 0, len(reports))
	place := make(map[*Report]int, len(reports))
	for i, p := range parents {
		place[reports[i]] = i
		if p >= 0 {
			children[p] = append(children[p], i)
		}
	}
	for i, p := range parents {
		if p >= 0 {
			continue
		}
		stack = append(stack[:0], Row{reports[i], 0})
		for len(stack) > 0 {
			row := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			out = append(out, row)
			below := children[place[row.Report]]
			for _, b := range slices.Backward(below) {
				stack = append(stack, Row{reports[b], row.Depth + 1})
			}
		}
	}
	return out
}
