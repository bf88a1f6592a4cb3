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

// indexByID returns the number of each node by its id; the first of equal ids counts.
func indexByID(nodes []node) map[string]int {
	index := make(map[string]int, len(nodes))
	for i, n := range slices.Backward(nodes) {
		index[n.id] = i
	}
	return index
}

// tree is a conversation in which a message may have several that follow it. Its nodes are named by their
// numbers; none is noNode.
type tree struct {
	nodes    []node
	index    map[string]int
	above    []int         // by node: the nearest kept node above it
	children map[int][]int // of kept nodes, those without a date first, then the oldest; of noNode: the roots
}

const noNode = -1

// setFromTree makes the conversation of a tree: the way to leaf, with the other replies at each place
// as swipes, and the ways to the other leaves. Without such a leaf it is the last one.
func (c *Conversation) setFromTree(nodes []node, leaf string) {
	t := &tree{nodes: nodes, index: indexByID(nodes)}
	if hasCircle := t.link(leaf); hasCircle {
		c.note("a message follows itself: the tree is cut there")
	}
	roots := t.children[noNode]
	areGreetings := !slices.ContainsFunc(roots, func(i int) bool { return nodes[i].Role != Character })
	if len(roots) > 1 && !areGreetings {
		c.note("the tree has %d beginnings", len(roots))
	}

	end := t.endAt(leaf)
	if end == noNode {
		end = t.lastLeaf()
		isGuess := leaf != "" || t.leaves() > 1
		if end != noNode && isGuess {
			c.note("the source does not say which message is the last: it is the last leaf")
		}
	}

	way := t.way(end)
	c.Messages = t.messages(way)
	c.Branches = t.branches(way)
}

// link finds what is above each node, and what is below. It reports whether some nodes are above themselves:
// such a circle is cut so that leaf, or else its first node, is its end.
func (t *tree) link(leaf string) (hasCircle bool) {
	t.above = make([]int, len(t.nodes))
	for i := range t.above {
		t.above[i] = unknown
	}
	if i, ok := t.index[leaf]; ok {
		hasCircle = t.linkUp(i)
	}
	for i := range t.nodes {
		if t.linkUp(i) {
			hasCircle = true
		}
	}

	t.children = map[int][]int{}
	for i, n := range t.nodes {
		if n.kept {
			t.children[t.above[i]] = append(t.children[t.above[i]], i)
		}
	}

	for _, list := range t.children {
		slices.SortStableFunc(list, func(a, b int) int { return t.nodes[a].Date.Compare(t.nodes[b].Date) })
	}
	return hasCircle
}

// What above has while link looks for it.
const (
	unknown = -2
	looking = -3
)

// linkUp finds what is above a node, and above the nodes on the way up. It reports whether that way came
// back to itself.
func (t *tree) linkUp(i int) (isCircle bool) {
	var chain []int
	at := i
	for at != noNode && t.above[at] == unknown {
		t.above[at] = looking
		chain = append(chain, at)
		at = t.parent(at)
	}

	if at != noNode && t.above[at] == looking {
		isCircle = true
		at = noNode
	}
	for _, next := range slices.Backward(chain) {
		t.above[next] = t.nearestKept(at)
		at = next
	}
	return isCircle
}

// parent returns the node that a node names as its parent.
func (t *tree) parent(i int) int {
	id := t.nodes[i].parent
	parent, ok := t.index[id]
	if !ok || id == "" {
		return noNode
	}
	return parent
}

// nearestKept returns a node if it is kept, else the nearest kept node above it.
func (t *tree) nearestKept(i int) int {
	if i == noNode || t.nodes[i].kept {
		return i
	}
	return t.above[i]
}

// endAt returns the kept node at which the way to a leaf ends.
func (t *tree) endAt(leaf string) int {
	i, ok := t.index[leaf]
	if !ok {
		return noNode
	}
	return t.nearestKept(i)
}

// way returns the nodes from the beginning to a leaf.
func (t *tree) way(leaf int) (list []int) {
	for at := leaf; at != noNode; at = t.above[at] {
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

// lastLeaf returns the latest of the leaves, of equal dates the last.
func (t *tree) lastLeaf() int {
	last := noNode
	for i, n := range t.nodes {
		if !t.isLeaf(i) {
			continue
		}
		if last == noNode || !n.Date.Before(t.nodes[last].Date) {
			last = i
		}
	}
	return last
}

// leaves returns how many messages are the last of a way.
func (t *tree) leaves() (n int) {
	for i := range t.nodes {
		if t.isLeaf(i) {
			n++
		}
	}
	return n
}

// isLeaf reports whether a node is the last message of a way.
func (t *tree) isLeaf(i int) bool { return t.nodes[i].kept && !t.goesOn(i) }

// goesOn reports whether there is more behind a node.
func (t *tree) goesOn(i int) bool { return len(t.children[i]) > 0 }

// branches returns the ways to the leaves that the conversation's own way does not have.
func (t *tree) branches(way []int) (list []Branch) {
	w := ways{tree: t, shared: map[int]int{}, seen: make([]bool, len(t.nodes))}
	for n, i := range way {
		w.add(i, n+1)
	}
	for i := range t.nodes {
		if !t.isLeaf(i) || w.seen[i] {
			continue
		}
		isSwipe := slices.ContainsFunc(t.siblings(i), t.goesOn) // of a reply that goes on, on the way through that
		if isSwipe {
			continue
		}
		shared := w.join(i)
		list = append(list, Branch{At: shared - 1, Messages: func() []Message { return t.messages(t.way(i)) }})
	}
	return list
}

// ways are the ways through a tree that have been found so far.
type ways struct {
	*tree
	shared map[int]int // by node on a way: how many of the conversation's messages that way shares up to it
	seen   []bool      // the nodes on a way, and the leaves that are swipes there
}

// add adds a node to a way.
func (w *ways) add(i, shared int) {
	w.shared[i] = shared
	w.seen[i] = true
	for _, k := range w.siblings(i) {
		if !w.goesOn(k) {
			w.seen[k] = true
		}
	}
}

// join adds the way to a leaf, up to where another has been. It returns how many of the conversation's
// messages it shares.
func (w *ways) join(leaf int) (shared int) {
	var own []int
	at := leaf
	for at != noNode {
		known, ok := w.shared[at]
		if ok {
			shared = known
			break
		}
		own = append(own, at)
		at = w.above[at]
	}

	for _, i := range own {
		w.add(i, shared)
	}
	return shared
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

// addThoughts gives each reply what was thought before it, through what is left out. It counts the thoughts
// that no reply follows.
func (c *Conversation) addThoughts(nodes []node) {
	index := indexByID(nodes)
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
		isThought := !n.kept && n.Reasoning != ""
		if isThought && !used[i] {
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
