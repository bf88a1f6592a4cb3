package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/text/plural"
)

// What commands did beside what they were asked for, in words.

// factsOf returns the facts of results for a person: each kind once, counted. ownBook says what gives a
// chat that shares its lorebook one of its own.
func factsOf(list []ops.Fact, ownBook string) (facts []fact) {
	var kinds groups[ops.FactKind, ops.Fact]
	for _, f := range list {
		kinds.add(f.Kind, f)
	}
	for _, kind := range kinds.keys {
		if kind == ops.FactSidecarSource {
			continue // told with what became of Luker's other files
		}
		told := factOf(kinds.of[kind])
		isShared := kind == ops.FactSharedBook && ownBook != ""
		isCommand := strings.HasPrefix(ownBook, "`")
		if isShared && !isCommand {
			told.text += "; " + ownBook
		}
		if told.text != "" {
			facts = append(facts, told)
		}
		if isShared && isCommand { // on a line of its own, to be copied
			facts = append(facts, fact{"", ownBook})
		}
	}
	return facts
}

// factsOfAll returns the facts of many chats that were edited, counted.
func factsOfAll(results []*edit.Result) []fact {
	var all []ops.Fact
	for _, r := range results {
		if r.Err == nil {
			all = append(all, r.Facts...)
		}
	}
	return factsOf(all, "")
}

// factOf returns several facts of one kind in words; no text means that a sentence has told it.
func factOf(same []ops.Fact) fact {
	first := same[0]
	count := 0
	var namesOf []string
	for _, f := range same {
		count += f.Count
		if f.Name != "" && !slices.Contains(namesOf, f.Name) {
			namesOf = append(namesOf, f.Name)
		}
	}

	named := strings.Join(namesOf, ", ")
	messages := plural.Many(count, "message")

	switch first.Kind {
	case ops.FactUnchanged:
		return fact{}
	case ops.FactLeftOut:
		return fact{"left out", "what was given for " + named}
	case ops.FactRepeated:
		return fact{"left out", plural.Many(len(same), "message") + " that the chat ends with already"}
	case ops.FactNamesKept:
		return fact{"as they are", plural.Many(count, "name") + " of chats, lorebooks and files, or IDs"}
	case ops.FactAddressesKept:
		return fact{"as they are", plural.Many(count, "place") + " in addresses of pictures and links"}
	case ops.FactToolCalls:
		return fact{"also", plural.Many(count, "tool call") + " directly before a deleted reply"}
	case ops.FactSafeName:
		return fact{"name", fmt.Sprintf("%q, since no file can be called %q", first.To, first.Name)}
	case ops.FactNoBook:
		if count == 1 {
			return fact{"lorebook", "the chat names none"}
		}
		return fact{"lorebook", plural.Many(count, "chat") + " name none"}
	case ops.FactSpeakers:
		return fact{"speakers", "messages keep their speakers' names"}
	case ops.FactNoMembers:
		return fact{"speakers", fmt.Sprintf("not in the group: %s (%s, left as they are)", named, messages)}
	case ops.FactMarked:
		return fact{"speakers", fmt.Sprintf("not in the group: %s (%s, now with the card's name and picture)", named, messages)}
	case ops.FactOthers:
		return fact{"speakers", fmt.Sprintf("%s of others as they are: %s", messages, named)}
	case ops.FactLinks:
		return fact{"links", "those of " + messages + " to checkpoints and branches left out"}
	case ops.FactDeadLinks:
		return fact{"links", "those of " + messages + " to chats that are not there left out"}
	case ops.FactStateLeft:
		return fact{"left out", "of the other chats: " + extensionsOf(same)}
	case ops.FactSidecarLeft:
		if len(same) == 1 {
			return fact{"Luker", "1 file left as it was: only the extension knows what it holds"}
		}
		return fact{"Luker", plural.Many(len(same), "file") + " left as they were: only the extensions know what they hold"}
	case ops.FactSidecarSource:
		text := plural.Many(len(same), "file") + " not copied"
		if first.Name != "" {
			text += ": " + first.Name
		}
		return fact{"Luker", text}
	case ops.FactStdout:
		return fact{"output", fmt.Sprintf("would write %s to standard output, %s", messages, formatBytes(int64(first.Of)))}
	case ops.FactGrown:
		return fact{"grown", fmt.Sprintf("its source has %s, here are %s; --grown imports it again, beside", plural.Many(first.Count, "message"), plural.Grouped(first.Of))}
	case ops.FactChatUser:
		return fact{"user", named + ", as in the other chats"}
	case ops.FactConverted:
		return fact{"source", strings.Join(namesOf, "; ")}
	case ops.FactCommitted:
		return fact{"message", fmt.Sprintf("written at message %d: the log of Luker cannot go back", first.Count)}
	case ops.FactClipped:
		if len(same) == 1 {
			return fact{"range", fmt.Sprintf("ends at message %s, the last", plural.Grouped(count))}
		}
		return fact{"range", "ends at the last message of " + plural.Many(len(same), "chat")}
	case ops.FactOtherSwipe:
		return fact{"swipe", fmt.Sprintf("it counts only while swipe %d of message %s is chosen; now swipe %d is", first.Count, first.Name, first.Of)}
	case ops.FactSharedBook:
		return fact{"lorebook", fmt.Sprintf("both chats now write to %q", first.Name)}
	case ops.FactLostLink:
		return fact{"links", plural.Many(len(same), "link") + " to other chats went with the messages"}
	case ops.FactReplacedLink:
		return fact{"link", fmt.Sprintf("in place of %q, whose file stays", first.Name)}
	case ops.FactParentCut:
		if len(same) == 1 {
			return fact{"parents", "1 chat no longer has one"}
		}
		return fact{"parents", plural.Many(len(same), "chat") + " no longer have one"}
	case ops.FactUnnamedBook:
		return fact{"lorebook", "no chat names " + named + " any more"}
	case ops.FactUnreached:
		return fact{"not touched", named}
	case ops.FactLinkCut:
		return fact{"links", plural.Many(len(same), "link") + " removed between the chats"}
	}

	panic("a fact without words")
}

// stateFacts tells what became of the state of extensions, a line for each. at is the last message.
func (c *console) stateFacts(changes []extension.Change, at int) (facts []fact) {
	var byLabel groups[string, string]
	if !c.verbose {
		changes = plainChanges(changes)
	}
	for _, change := range changes {
		text := change.Change
		if !c.verbose {
			text = plainText(change, at)
		}
		byLabel.add(extensionLabel(change.Extension), text)
	}

	for _, label := range byLabel.keys {
		facts = append(facts, fact{label, strings.Join(slices.Compact(byLabel.of[label]), ", ")})
	}
	return facts
}

// plainChanges leaves out the changes that are none of a person's business, and puts those of a kind
// together: timers of lorebooks, and prompts with their pictures.
func plainChanges(changes []extension.Change) (plain []extension.Change) {
	isPicture := func(change extension.Change) bool { return change.Things == "image" }
	hasPictures := slices.ContainsFunc(changes, isPicture)
	for _, change := range changes {
		isOfPictures := change.Things == "prompt" || change.Things == "open message"
		if change.What == extension.Internal || isOfPictures && hasPictures {
			continue
		}
		if isTimer := strings.HasSuffix(change.Things, " effect"); isTimer {
			change.Things = "effect"
		}
		same := func(other extension.Change) bool {
			return other.Extension == change.Extension && other.What == change.What && other.Things == change.Things
		}
		i := slices.IndexFunc(plain, same)
		if i < 0 || change.What == extension.Other {
			plain = append(plain, change)
			continue
		}
		plain[i].Count += change.Count
		plain[i].Of += change.Of
	}
	return plain
}

// extensionsOf names the extensions that facts are about.
func extensionsOf(facts []ops.Fact) string {
	var labels []string
	for _, f := range facts {
		for name := range strings.SplitSeq(f.Name, ", ") {
			if label := extensionLabel(name); !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
	}
	return strings.Join(labels, ", ")
}

// extensionLabel returns the name under which a person knows an extension.
func extensionLabel(key string) string {
	known := map[string]string{
		"core":             "lore timers",
		"timed effects":    "lore timers",
		"auto_recap":       "Auto-Recap",
		"auto_illustrator": "Illustrator",
		"luker":            "Luker",
	}
	return cmp.Or(known[key], key)
}

// plainText returns a change in plain words.
func plainText(change extension.Change, at int) string {
	things := strings.ReplaceAll(change.Things, "image", "picture")
	switch change.What {
	case extension.Kept:
		if things == "effect" {
			return plural.S(change.Of-change.Count, things) + " ended"
		}
		return fmt.Sprintf("%d of %s kept", change.Count, plural.S(change.Of, things))
	case extension.Moved:
		return plural.S(change.Count, things) + " moved along"
	case extension.Followed:
		var parts []string
		if change.Count > 0 {
			parts = append(parts, plural.S(change.Count, things)+" moved along")
		}
		if change.Of > 0 {
			parts = append(parts, plural.S(change.Of, things)+" removed")
		}
		return strings.Join(parts, ", ")
	case extension.Removed:
		return plural.S(change.Count, things) + " removed"
	case extension.Rewound:
		switch {
		case change.Count < 0:
			return fmt.Sprintf("no recap yet at %d", at)
		case change.Count == 0: // they count from 0
			return fmt.Sprintf("goes back to the first recap of %d", change.Of)
		}
		return fmt.Sprintf("goes back to recap %d of %d", change.Count, change.Of)
	}
	return change.Change
}

// tellFacts prints the facts of a result where no person reads blocks, for --verbose.
func (c *console) tellFacts(path string, told []ops.Fact) {
	for _, f := range told {
		if f.Kind == ops.FactUnchanged {
			c.note("%s: unchanged", cmp.Or(f.Path, path))
		}
		if words := factOf([]ops.Fact{f}); words.text != "" && f.Warning == "" {
			c.note("%s: %s: %s", cmp.Or(f.Path, path), words.label, words.text)
		}
	}
}

// tellUnchanged says that nothing had to be done where no person reads blocks, for --verbose.
func (c *console) tellUnchanged(path string, unchanged bool) {
	if unchanged && c.verbose && !c.tells() {
		c.note("%s: unchanged", path)
	}
}

// tellState prints what became of the state of extensions where no person reads blocks, for --verbose.
func (c *console) tellState(path string, changes []extension.Change) {
	if c.tells() || !c.verbose {
		return
	}
	for _, change := range changes {
		c.note("%s: %s: %s", path, change.Extension, change.Change)
	}
}
