package rules

import "fmt"

// judgeSlugs judges the integrity slugs of the chats of one folder.
func judgeSlugs(f *folk) {
	bySlug := map[string][]*Chat{}
	for _, c := range f.chats {
		if c.Integrity != "" {
			bySlug[c.Integrity] = append(bySlug[c.Integrity], c)
		}
	}
	eldest := map[string]*Chat{}
	for _, c := range f.chats {
		switch shared := bySlug[c.Integrity]; {
		case !c.HasHeader:
		case c.Integrity == "":
			c.report(IntegrityMissing, c.HeaderLine, 0, "the header has no integrity slug")
		case len(shared) > 1:
			if eldest[c.Integrity] == nil {
				eldest[c.Integrity] = f.eldest(shared)
			}
			if keeper := eldest[c.Integrity]; keeper != c {
				c.report(IntegrityShared, c.HeaderLine, 0, fmt.Sprintf("the same integrity slug as %q", clip(keeper.Name)))
			}
		}
	}
}
