package treeview

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"stchat/internal/plural"
	"stchat/internal/visible"
)

// longest is how many cells of a name a graph shows.
const longest = 80

// Mermaid's defaults: beyond these it refuses to draw.
const (
	MermaidText  = 50_000
	MermaidEdges = 500
)

// shown returns a name as a graph shows it, in at most so many cells.
func shown(s string, cells int) string { return cutName(visible.Text(s), cells) }

func cutName(s string, cells int) string { return visible.CutLeft(s, cells, "…") }

// ids returns the name of every chat's node.
func ids(t *Tree) map[*Chat]string {
	ids := map[*Chat]string{}
	for c := range t.chats() {
		ids[c] = fmt.Sprintf("n%d", len(ids))
	}
	return ids
}

// counts describes how many messages a chat has.
func counts(c *Chat) string {
	text := plural.S(c.Messages, "message")
	if c.Parent != nil {
		text += fmt.Sprintf(", +%d", c.Own)
	}
	return text
}

// notesOf returns the remarks on a chat that a graph shows.
func notesOf(c *Chat) string {
	list := remarks(c)
	if c.Current {
		list = append(list, "open")
	}
	return strings.Join(list, ", ")
}

// DOT writes the tree for Graphviz.
func DOT(w io.Writer, t *Tree) error {
	b := bufio.NewWriter(w)
	ids, short := ids(t), t.Shorts()
	fmt.Fprint(b, "digraph families {\n\trankdir=LR;\n\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];\n\tedge [fontname=\"sans-serif\", fontsize=10];\n")
	for i, o := range t.Owners {
		if len(o.Chats) == 0 {
			continue
		}
		fmt.Fprintf(b, "\tsubgraph cluster_%d {\n\t\tlabel=\"%s\";\n", i, dotText(shown(o.Name, longest)))
		for _, c := range o.Chats {
			label := dotText(shown(short[c], longest)) + `\n` + dotText(counts(c))
			if notes := notesOf(c); notes != "" {
				label += `\n` + dotText(notes)
			}
			style := ""
			switch {
			case c.Current:
				style = ", penwidth=2"
			case c.Role == "checkpoint":
				style = ", peripheries=2"
			}
			fmt.Fprintf(b, "\t\t%s [label=\"%s\"%s];\n", ids[c], label, style)
		}
		fmt.Fprint(b, "\t}\n")
		for _, c := range o.Chats {
			if c.Above == nil {
				continue
			}
			style := ""
			if c.computed() {
				style = ", style=dashed"
			}
			fmt.Fprintf(b, "\t%s -> %s [label=\"%s\"%s];\n", ids[c.Above], ids[c], dotText(edge(c)), style)
		}
	}
	fmt.Fprint(b, "}\n")
	return b.Flush()
}

// edge describes where a chat parts from its parent.
func edge(c *Chat) string {
	if *c.AtParent < 0 {
		return "shares nothing"
	}
	return fmt.Sprintf("#%d", *c.AtParent)
}

// dotText escapes a double-quoted string of DOT.
func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

// Mermaid writes the tree as a flowchart.
func Mermaid(w io.Writer, t *Tree) error {
	b := bufio.NewWriter(w)
	ids, short := ids(t), t.Shorts()
	fmt.Fprint(b, "flowchart LR\n")
	for c := range t.chats() {
		label := shown(short[c], longest) + " - " + counts(c)
		if notes := notesOf(c); notes != "" {
			label += " - " + notes
		}
		fmt.Fprintf(b, "    %s[\"%s\"]\n", ids[c], mermaidText(label))
	}
	for c := range t.chats() {
		if c.Above == nil {
			continue
		}
		arrow := "-->"
		if c.computed() {
			arrow = "-.->"
		}
		fmt.Fprintf(b, "    %s %s|\"%s\"| %s\n", ids[c.Above], arrow, mermaidText(edge(c)), ids[c])
	}
	return b.Flush()
}

// mermaidText writes the number of every character that mermaid, or the HTML it makes, might
// not take for plain text.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_.,@", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// Edges returns how many edges a graph of the tree has.
func (t *Tree) Edges() int {
	n := 0
	for c := range t.chats() {
		if c.Above != nil {
			n++
		}
	}
	return n
}
