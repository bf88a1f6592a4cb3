package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// The names of things; the times in them are the times of the first message.
const (
	gullRockChat = "Maren Holm - 2026-03-01@18h42m07s311ms"
	gullRockBook = "z-AutoLB-Gull Rock"
	shioriChat   = "汐見 栞 - 2026-03-05@16h20m33s090ms"
	importedChat = "汐見 栞 - 2026-03-07@09h12m40s655ms imported"
	supperChat   = "2026-03-09@19h05m12s004ms"
	saltmereBook = "Saltmere"

	// firstInContext is the eldest message the model still saw.
	firstInContext = 17
)

// demo makes every file of the folder, by its path with forward slashes.
func demo() (map[string][]byte, error) {
	files := map[string][]byte{}
	for i, name := range []string{"lamp-room.png", "storm.png", "storm-2.png", "form.png"} {
		data, err := picture(i - 1)
		if err != nil {
			return nil, err
		}
		files["user/images/Maren Holm/"+name] = data
	}
	files["worlds/"+saltmereBook+".json"] = bookFile(saltmereEntries)
	if err := gullRock(files); err != nil {
		return nil, err
	}
	if err := others(files); err != nil {
		return nil, err
	}
	if err := tideHouse(files); err != nil {
		return nil, err
	}
	return files, nil
}

// gullRock makes Maren's chat with its checkpoint and its branch, each made as
// `stchat … --isolate --naming sillytavern --link` makes them: with the state
// that was, and a book of its own.
func gullRock(files map[string][]byte) error {
	begin := time.Date(2026, time.March, 1, 18, 42, 7, 311e6, time.UTC)
	turns, err := readStory("gull-rock")
	if err != nil {
		return err
	}
	w := &teller{clock: begin, speakers: map[string]speaker{"ines": ines, "maren": maren}}
	messages, err := w.tellAll(turns)
	if err != nil {
		return err
	}
	scenes := scenesOf(messages)
	for _, s := range scenes {
		breakScene(&messages[s.end], s, gullRockBook)
	}
	last := bookAt(len(scenes) + 1)
	files["worlds/"+gullRockBook+".json"] = bookFile(append(slices.Clone(last), queueEntry(begin.Add(4*time.Minute))))

	c := chronicle{begin: begin, messages: messages, scenes: scenes}
	line := &storyline{chat: gullRockChat, book: gullRockBook, messages: messages, state: len(messages) - 1}
	if err := c.grow(files, line, w, 0); err != nil {
		return err
	}
	files["chats/Maren Holm/"+gullRockChat+".jsonl"] = chatFile(c.metadata(line), messages)
	card, err := characterCard(character{
		name: maren.name, chat: gullRockChat, greetings: turns[0].texts, book: saltmereBook, made: begin.Add(-26 * time.Hour),
		description: gullRockEntries[0].content, personality: "Dry, quick, never idle. Says the kind thing last, and sideways.",
		scenario: "A surveyor of the Coast Board comes to write the report that will close the light on Gull Rock.", tags: []string{"lighthouse", "slow burn"},
	}, 2)
	files["characters/"+maren.avatar] = card
	return err
}

// A storyline is a chat of Maren's.
type storyline struct {
	chat, book string
	parent     string // the chat it was made from; empty: none
	messages   []message
	state      int // the message of the first chat whose state of extensions it has
}

// tails returns the stories of the branches.
func tails() map[string]string {
	return map[string]string{"Branch #1": "gull-rock-branch", "Branch #2": "gull-rock-branch-2"}
}

// grow makes the checkpoints and the branches that hang on a chat's messages from a
// number on, and theirs in turn. w has told the chat.
func (c chronicle) grow(files map[string][]byte, line *storyline, w *teller, from int) error {
	messages := line.messages
	for i := from; i < len(messages); i++ {
		t := messages[i].turn
		if t.checkpoint == "" && t.branch == "" {
			continue
		}
		name, label := t.checkpoint, t.checkpoint
		if t.branch != "" {
			name, label = gullRockChat+" - "+t.branch, t.branch
		}
		child := &storyline{name, gullRockBook + "__CP_" + label, line.chat, slices.Clone(messages[:i+1]), min(i, line.state)}
		if t.branch != "" {
			turns, err := readStory(tails()[t.branch])
			if err != nil {
				return err
			}
			if len(messages[i].swipes) > 1 {
				child.messages[i] = child.messages[i].pick(1)
			}
			later := &teller{clock: w.clock.Add(26 * time.Hour), speakers: w.speakers}
			for _, t := range turns {
				m, err := later.tell(t, len(child.messages))
				if err != nil {
					return err
				}
				child.messages = append(child.messages, m)
			}
			if err := c.grow(files, child, later, i+1); err != nil {
				return err
			}
		}
		files["worlds/"+child.book+".json"] = bookFile(userEntries(bookAt(len(c.scenes) + 1)))
		files["chats/Maren Holm/"+name+".jsonl"] = chatFile(c.metadata(child), child.messages)
		// The link comes after the copy, so the copy's last message lacks it.
		link := member{"bookmark_link", name}
		if t.branch != "" {
			link = member{"branches", strs(name)}
		}
		messages[i].extra = append(slices.Clip(messages[i].extra), link)
	}
	return nil
}

// A chronicle knows the state of Maren's chat at each of its messages.
type chronicle struct {
	begin    time.Time
	messages []message
	scenes   []scene
}

// metadata returns the header's metadata for a chat.
func (c chronicle) metadata(line *storyline) object {
	chat, book, n := line.chat, line.book, line.state
	m := object{
		{"integrity", slug(chat)},
		{"note_prompt", "[Dry humour. Never describe the same weather twice in the same words.]"},
		{"note_interval", 4},
		{"note_position", 1},
		{"note_depth", 4},
		{"note_role", 0},
		{"tainted", true},
		{"chat_id_hash", stringHash(gullRockChat)},
		{"world_info", book},
		{"auto_lorebooks", object{{"lorebookName", book}, {"attachedAt", c.begin.Add(2 * time.Second).UnixMilli()}, {"registry", object{{"index", registryIndex()}}}}},
		{"autoLorebooks", object{{"pendingOps", object{}}}},
		{"auto_recap_running_scene_recaps", runningState(chat, c.scenes, n)},
		{"auto_illustrator", c.prompts(n)},
		{"timedWorldInfo", c.timed(book, n)},
		{"variables", object{{"oil", "17"}, {"turns", 90}, {"wind", "NW"}}},
	}
	if firstInContext <= n {
		m = append(m, member{"lastInContextMessageId", firstInContext})
	}
	if line.parent != "" {
		m = append(m, member{"main_chat", line.parent})
	}
	return m
}

// registryIndex returns Auto-Lorebooks' list of its entries.
func registryIndex() object {
	o := object{}
	for _, e := range gullRockEntries {
		uid := strconv.FormatInt(e.uid, 10)
		o = append(o, member{uid, object{
			{"uid", e.uid},
			{"id", uid},
			{"type", e.kind},
			{"name", e.name},
			{"comment", e.comment()},
			{"aliases", strs(e.aliases...)},
			{"synopsis", e.synopsis},
		}})
	}
	return o
}

// timed returns core's list of lorebook effects that are still running. Both
// begin at a count of visible messages, and go where the chat is shorter
// (FORMATS E3.2).
func (c chronicle) timed(book string, n int) object {
	running := func(uid int64, start, lasts int, protected bool) object {
		v := visible(c.messages[:n+1])
		if start > v || start == v && !protected {
			return object{}
		}
		i := slices.IndexFunc(gullRockEntries, func(e entry) bool { return e.uid == uid })
		return object{{fmt.Sprintf("%s.%d", book, uid), object{
			{"hash", gullRockEntries[i].timedHash(book)}, {"start", start}, {"end", start + lasts}, {"protected", protected},
		}}}
	}
	return object{
		{"sticky", running(4, 32, 20, false)},
		{"cooldown", running(10, 44, 10, true)},
	}
}

// prompts returns Auto-Illustrator's registry of the prompts in messages 0 to n
// (FORMATS C1).
func (c chronicle) prompts(n int) object {
	nodes, images, roots, expanded := object{}, object{}, list{}, list{}
	for i, m := range c.messages[:n+1] {
		var parent any
		for k, img := range m.turn.images {
			id := promptID(img.prompt, i, 0)
			source, children := "ai-message", list{}
			if img.refines {
				source = "ai-refined"
			} else {
				parent = nil
				roots = append(roots, id)
			}
			if k+1 < len(m.turn.images) && m.turn.images[k+1].refines {
				children = append(children, promptID(m.turn.images[k+1].prompt, i, 0))
			}
			made := c.begin.Add(time.Duration(11*i+k) * time.Minute).UnixMilli()
			nodes = append(nodes, member{id, object{
				{"id", id},
				{"messageId", i},
				{"promptIndex", 0},
				{"text", img.prompt},
				{"parentId", parent},
				{"childIds", children},
				{"generatedImages", strs(picturePath(img.file))},
				{"metadata", object{{"createdAt", made}, {"lastUsedAt", made + 41_000}, {"source", source}}},
			}})
			images = append(images, member{picturePath(img.file), id})
			parent = id
		}
		if len(m.turn.images) > 0 {
			expanded = append(expanded, i)
		}
	}
	return object{
		{"promptRegistry", object{{"nodes", nodes}, {"imageToPromptId", images}, {"rootPromptIds", roots}}},
		{"galleryWidget", object{{"visible", true}, {"minimized", false}, {"expandedMessages", expanded}, {"messageOrder", "newest-first"}}},
	}
}

// others makes the bookseller's chat and the group's, which keep no state of
// extensions.
func others(files map[string][]byte) error {
	speakers := map[string]speaker{"ines": ines, "maren": maren, "shiori": shiori}
	for _, one := range []struct {
		story, folder, chat string
		begin               time.Time
	}{
		{"shiori", "chats/汐見 栞", shioriChat, time.Date(2026, time.March, 5, 16, 20, 33, 90e6, time.UTC)},
		{"supper", "group chats", supperChat, time.Date(2026, time.March, 9, 19, 5, 12, 4e6, time.UTC)},
	} {
		turns, err := readStory(one.story)
		if err != nil {
			return err
		}
		w := &teller{clock: one.begin, speakers: speakers, group: one.story == "supper"}
		messages, err := w.tellAll(turns)
		if err != nil {
			return err
		}
		metadata := object{
			{"integrity", slug(one.chat)},
			{"note_prompt", ""},
			{"note_interval", 1},
			{"note_position", 1},
			{"note_depth", 4},
			{"note_role", 0},
			{"tainted", true},
			{"world_info", saltmereBook},
		}
		files[one.folder+"/"+one.chat+".jsonl"] = chatFile(metadata, messages)
		if !w.group {
			// the chat as it was when it was exported, and imported again
			metadata[0].value = slug(importedChat)
			files[one.folder+"/"+importedChat+".jsonl"] = chatFile(metadata, messages[:len(messages)-2])
			files["characters/"+shiori.avatar], err = characterCard(character{
				name: shiori.name, chat: one.chat, greetings: turns[0].texts, book: saltmereBook, made: one.begin.Add(-3 * time.Hour),
				description: "渡し場のそばの小さな本屋、潮書房の店主。栞と呼ばれる。脚立の上にいることが多い。", tags: []string{"本屋"},
			}, 5)
			if err != nil {
				return err
			}
			continue
		}
		id := strconv.FormatInt(one.begin.UnixMilli(), 10)
		files["groups/"+id+".json"] = []byte(pretty(object{
			{"id", id},
			{"name", "Supper at the light 🕯️"},
			{"members", strs(maren.avatar, shiori.avatar)},
			{"avatar_url", ""},
			{"allow_self_responses", false},
			{"activation_strategy", 0},
			{"generation_mode", 0},
			{"disabled_members", list{}},
			{"fav", false},
			{"chat_id", one.chat},
			{"chats", strs(one.chat)},
			{"auto_mode_delay", 5},
			{"generation_mode_join_prefix", ""},
			{"generation_mode_join_suffix", ""},
		}, "    "))
	}
	return nil
}
