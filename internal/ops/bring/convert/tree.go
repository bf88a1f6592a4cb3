package convert

import (
	"slices"
	"strings"
)

// node is a message of a tree, or what is left out of it.
type node struct {
	id, parent string
	kept       bool
	Message
}

// tree is a conversation in which a message may have several that follow it.
type tree struct {
	nodes    []node
	above    []int         // by node: the nearest kept node above it, -1 for none
	children map[int][]int // of kept nodes, those without a date first, then the oldest; of -1: the roots
}

// grow makes the conversation of a tree: the way to leaf, with the other replies at each place
// as swipes, and the ways to the other leaves. Without such a leaf it is the last one.
func (c *Conversation) grow(nodes []node, leaf string) {
	t := &tree{nodes: nodes, above: make([]int, len(nodes)), children: map[int][]int{}}
	index := make(map[string]int, len(nodes))
	for i, n := range slices.Backward(nodes) { // the first of equal ids counts
		index[n.id] = i
	}
	if t.link(index, leaf) {
		c.note("a message follows itself: the tree is cut there")
	}
	if roots := t.children[-1]; len(roots) > 1 && slices.ContainsFunc(roots, func(i int) bool { return nodes[i].Role != Character }) {
		c.note("the tree has %d beginnings", len(roots))
	}
	at := -1
	if i, ok := index[leaf]; ok && nodes[i].kept {
		at = i
	} else if ok {
		at = t.above[i]
	}
	if at < 0 {
		at = t.lastLeaf()
		if at >= 0 && (leaf != "" || t.leaves() > 1) {
			c.note("the source does not say which message is the last: it is the last leaf")
		}
	}
	covered := map[int]bool{}
	way := t.way(at)
	t.cover(way, covered)
	c.Messages = t.messages(way)
	for i, n := range nodes {
		if !n.kept || t.goesOn(i) || covered[i] || slices.ContainsFunc(t.siblings(i), t.goesOn) {
			continue // on a way already, or a swipe on that of a reply that goes on
		}
		other := t.way(i)
		t.cover(other, covered)
		shared := 0
		for shared < min(len(way), len(other)) && way[shared] == other[shared] {
			shared++
		}
		c.Branches = append(c.Branches, Branch{At: shared - 1, Messages: func() []Message { return t.messages(t.way(i)) }})
	}
}

// link finds what is above each node, and reports whether some are above themselves: such a
// circle is cut so that leaf, or else its first node, is its end.
func (t *tree) link(index map[string]int, leaf string) (circle bool) {
	const unknown, looking = -2, -3
	for i := range t.above {
		t.above[i] = unknown
	}
	for i := range len(t.nodes) + 1 {
		var chain []int
		at := i - 1
		if n, ok := index[leaf]; ok && i == 0 {
			at = n
		}
		for at >= 0 && t.above[at] == unknown {
			t.above[at] = looking
			chain = append(chain, at)
			parent, ok := index[t.nodes[at].parent]
			if !ok || t.nodes[at].parent == "" {
				parent = -1
			}
			at = parent
		}
		if at >= 0 && t.above[at] == looking { // the chain came back to itself
			circle, at = true, -1
		}
		for _, next := range slices.Backward(chain) {
			up := at
			if up >= 0 && !t.nodes[up].kept {
				up = t.above[up]
			}
			t.above[next] = up
			at = next
		}
	}
	for i, n := range t.nodes {
		if n.kept {
			t.children[t.above[i]] = append(t.children[t.above[i]], i)
		}
	}
	for _, list := range t.children {
		slices.SortStableFunc(list, func(a, b int) int { return t.nodes[a].Date.Compare(t.nodes[b].Date) })
	}
	return circle
}

// way returns the nodes from the beginning to a leaf.
func (t *tree) way(leaf int) (list []int) {
	for at := leaf; at >= 0; at = t.above[at] {
		list = append(list, at)
	}
	slices.Reverse(list)
	return list
}

// siblings returns the replies at a node's place, if it is one.
func (t *tree) siblings(i int) (list []int) {
	if t.nodes[i].Role != Character {
		return nil
	}
	for _, k := range t.children[t.above[i]] {
		if t.nodes[k].Role == Character {
			list = append(list, k)
		}
	}
	return list
}

// lastLeaf returns the latest of the leaves, of equal dates the last; -1 if there is none.
func (t *tree) lastLeaf() int {
	last := -1
	for i, n := range t.nodes {
		if !n.kept || t.goesOn(i) {
			continue
		}
		if last < 0 || !n.Date.Before(t.nodes[last].Date) {
			last = i
		}
	}
	return last
}

// leaves returns how many messages are the last of a way.
func (t *tree) leaves() (n int) {
	for i, node := range t.nodes {
		if node.kept && !t.goesOn(i) {
			n++
		}
	}
	return n
}

// goesOn reports whether there is more behind a node.
func (t *tree) goesOn(i int) bool { return len(t.children[i]) > 0 }

// cover notes the leaves that a way has, also as swipes.
func (t *tree) cover(way []int, covered map[int]bool) {
	for _, i := range way {
		covered[i] = true
		for _, k := range t.siblings(i) {
			covered[k] = covered[k] || !t.goesOn(k)
		}
	}
}

// messages returns the messages of a way, with their swipes.
func (t *tree) messages(way []int) (list []Message) {
	for _, i := range way {
		m := t.nodes[i].Message
		if all := t.siblings(i); len(all) > 1 {
			for n, k := range all {
				m.Swipes = append(m.Swipes, t.nodes[k].Message)
				if k == i {
					m.Swipe = n
				}
			}
		}
		list = append(list, m)
	}
	return list
}

// think gives each reply what was thought before it, through what is left out. It counts the thoughts
// that no reply follows.
func (c *Conversation) think(nodes []node) {
	index := make(map[string]int, len(nodes))
	for i, n := range slices.Backward(nodes) { // the first of equal ids counts
		index[n.id] = i
	}
	used := map[int]bool{}
	for i := range nodes {
		n := &nodes[i]
		if !n.kept || n.Role != Character {
			continue
		}
		thoughts := n.thoughtsBefore(nodes, index)
		for _, k := range thoughts {
			used[k] = true
		}
		n.Reasoning = joinedThoughts(n.Reasoning, nodes, thoughts)
	}
	for i, n := range nodes {
		if !n.kept && n.Reasoning != "" && !used[i] {
			c.drop("thoughts without a reply", 1)
		}
	}
}

// thoughtsBefore returns the nodes above a reply that hold thoughts, up to the message before it.
func (n *node) thoughtsBefore(nodes []node, index map[string]int) (list []int) {
	const farthest = 1000  // many replies may have the same long way up
	seen := map[int]bool{} // there may be a circle
	at, ok := index[n.parent]
	for ok && !nodes[at].kept && !seen[at] && len(seen) < farthest {
		seen[at] = true
		if nodes[at].Reasoning != "" {
			list = append(list, at)
		}
		at, ok = index[nodes[at].parent]
	}
	slices.Reverse(list)
	return list
}

// joinedThoughts returns the thoughts of some nodes, and then those of a reply itself.
func joinedThoughts(own string, nodes []node, list []int) string {
	var thoughts []string
	for _, i := range list {
		thoughts = append(thoughts, nodes[i].Reasoning)
	}
	if own != "" {
		thoughts = append(thoughts, own)
	}
	return strings.Join(thoughts, "\n\n")
}
