package rules

import (
	"cmp"
	"fmt"
	"slices"
)

// identity judges the integrity slugs of the chats of one folder.
func (k *Checker) identity(f *family) {
	bySlug := map[string][]*Chat{}
	for _, c := range f.chats {
		if c.Integrity != "" {
			bySlug[c.Integrity] = append(bySlug[c.Integrity], c)
		}
	}
	for _, c := range f.chats {
		switch shared := bySlug[c.Integrity]; {
		case !c.HasHeader:
		case c.Integrity == "":
			c.report(IntegrityMissing, c.HeaderLine, 0, "the header has no integrity slug")
		case len(shared) > 1:
			if eldest := f.eldest(shared); eldest != c {
				c.report(IntegrityShared, c.HeaderLine, 0, fmt.Sprintf("the same integrity slug as %q", clip(eldest.Name)))
			}
		}
	}
}

// eldest gives the chat of a family from which the others come: the root by
// main_chat; where that does not tell, the one that began first.
func (f *family) eldest(chats []*Chat) *Chat {
	in := map[*Chat]bool{}
	for _, c := range chats {
		in[c] = true
	}
	// what has another of the chats among its ancestors is no root
	below := map[*Chat]bool{}
	for _, c := range chats {
		seen := map[*Chat]bool{c: true}
		for p := f.parent(c); p != nil && !seen[p]; p = f.parent(p) {
			if in[p] {
				below[c] = true
				break
			}
			seen[p] = true
		}
	}
	return slices.MinFunc(chats, func(a, b *Chat) int {
		return cmp.Or(
			compareBool(below[a], below[b]),
			compareBool(a.MainChat != "", b.MainChat != ""),
			compareBool(a.FirstDate == 0, b.FirstDate == 0),
			cmp.Compare(a.FirstDate, b.FirstDate),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
