package copying

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// Keys of a message that says which member of a group speaks.
const (
	originalAvatar = "original_avatar" // the file of the member's card
	forceAvatar    = "force_avatar"    // the address of its picture
	generation     = "gen_id"          // of extra: messages of one generation, for swiping in a group
)

// dress makes messages fit the owner of a new chat. In a group each of a character's messages says
// whose it is; in a character's chat none of the character's own does.
type dress struct {
	owner *address.Owner
	kind  change
	face  *face          // that messages get or lose; nil: they stay as they are
	seen  map[string]int // messages by who speaks and is not of the owner; those that got a face are in given
	given map[string]int
	heard bool                // a message bears the owner's name
	is    func(s speech) bool // whether one who speaks belongs there
}

// change is how a new chat's kind differs from that of its source.
type change int

const (
	unmoved     change = iota
	toGroup            // from a character
	toCharacter        // from a group
	sameKind           // to another character, or to another group
)

// speech is what a character's message says of who speaks.
type speech struct{ name, avatar string }

// dressFor returns how messages of src are made to fit their place.
func dressFor(lib *library.Library, src *chat.Chat, to *place, now time.Time, r *Result) (*dress, error) {
	d := &dress{owner: to.owner, seen: map[string]int{}, given: map[string]int{}}
	if to.owner == nil {
		return d, nil
	}
	fromGroup := src.Kind == userdir.Group
	if to.group != nil {
		d.is = membersOf(to.owner)
	} else {
		d.is = func(s speech) bool { return s.avatar == to.owner.Avatar || s.avatar == "" && s.name == to.owner.Name }
	}

	switch {
	case fromGroup == (to.group != nil):
		d.kind = sameKind
		return d, nil
	case fromGroup:
		d.kind, d.face = toCharacter, &face{avatar: to.owner.Avatar}
		return d, nil
	}

	d.kind = toGroup
	of, err := address.OwnerOf(lib, filepath.Dir(userdir.Follow(src.Path)), "")
	if err != nil {
		return nil, err
	}
	if of.Card == "" {
		r.Warn("%s: %s has no card, so the messages do not say whose they are: the group shows them without a picture", src.Label(), of.Name)
		return d, nil
	}
	d.face = &face{name: of.Name, avatar: of.Avatar, first: now.UnixMilli()}
	return d, nil
}

// membersOf returns what reports whether a member of a group speaks: by the card that a message names,
// else by the card's name.
func membersOf(owner *address.Owner) func(speech) bool {
	avatars, called := map[string]bool{}, map[string]bool{}
	for avatar := range rawjson.Texts(rawjson.Value(owner.Group.Raw(), "members")) {
		avatars[avatar] = true
		if filepath.Base(avatar) != avatar {
			continue // no file of the user's
		}
		if c, err := card.Open(filepath.Join(owner.Dir.Characters(), avatar)); err == nil {
			called[c.Name] = true
		}
	}
	return func(s speech) bool { return avatars[s.avatar] || s.avatar == "" && called[s.name] }
}

// message returns message i, of which line is what is left so far, as it is in the new chat.
func (d *dress) message(l *jsonl.Line, line []byte, i int) []byte {
	if d.owner == nil {
		return line
	}
	user, _ := l.Value(keyUser)
	system, _ := l.Value(keySystem)
	extra, _ := l.Value(keyExtra)
	kind, _ := rawjson.Unquote(rawjson.Value(extra, "type"))
	isCharacters := !rawjson.Truthy(user) && kind != "narrator"
	isHidden := rawjson.Truthy(system)
	if !isCharacters || isHidden && d.kind != toCharacter { // SillyTavern leaves hidden ones as they are, too
		return line
	}
	s := speechOf(l)
	_, forced := l.Value(keyForced)
	told := d.seen
	switch {
	case d.face == nil:
	case d.kind == toGroup && !forced:
		s.name, s.avatar = d.face.name, d.face.avatar
		line = d.face.put(line, i)
		told = d.given
	case d.kind == toCharacter && s.avatar == d.face.avatar:
		line = d.face.take(line)
	}

	d.heard = d.heard || s.name == d.owner.Name
	if !d.is(s) && !isHidden {
		told[s.name]++
	}
	return line
}

func speechOf(l *jsonl.Line) (s speech) {
	name, _ := l.Value(keyName)
	avatar, _ := l.Value(keyAvatar)
	s.name, _ = rawjson.Unquote(name)
	s.avatar, _ = rawjson.Unquote(avatar)
	return s
}

// face is what a character's messages bear in a group, and not in a chat of its own.
type face struct {
	name   string // of the character
	avatar string // the file of its card
	first  int64  // gen_id of message 0
}

// put returns message i as SillyTavern makes it a member's when it converts a character's chat to a
// group's (convertSoloToGroupChat in public/scripts/bookmarks.js, 1.16 to 1.19).
func (f *face) put(line []byte, i int) []byte {
	return rawjson.Edit(line, func(m *rawjson.Object) {
		extra := m.Value("extra")
		if kind := rawjson.KindOf(extra); kind != rawjson.ObjectKind && kind != rawjson.Array {
			m.Set("extra", []byte("{}"))
		}
		if name, _ := rawjson.Unquote(m.Value("name")); name != f.name {
			m.Set("name", rawjson.Quote(f.name))
		}
		m.Set(originalAvatar, rawjson.Quote(f.avatar))
		m.Set(forceAvatar, rawjson.Quote(thumbnail(f.avatar)))
		m.Edit(func(extra *rawjson.Object) { extra.Set(generation, strconv.AppendInt(nil, f.first+int64(i), 10)) }, "extra")
	})
}

// take returns a member's message as one of a character's own chat: without what put gives it, also in
// the extras of its swipes, which SillyTavern copies from the message's (syncMesToSwipe in
// public/script.js).
func (f *face) take(line []byte) []byte {
	line = rawjson.Edit(line, func(m *rawjson.Object) {
		m.Unset(originalAvatar)
		m.Unset(forceAvatar)
	})
	return message.EditExtras(line, func(extra *rawjson.Object) { extra.Unset(generation) })
}

// thumbnail returns the address of a card's picture (getThumbnailUrl in public/script.js).
func thumbnail(avatar string) string {
	return "/thumbnail?type=avatar&file=" + userdir.Component(avatar)
}

// mostNamed is how many who speak are named; the others are counted.
const mostNamed = 5

// tell notes who speaks in the new chat at path and does not belong there.
func (d *dress) tell(path string, messages int, r *Result) {
	isToCharacter := d.owner != nil && d.owner.Group == nil
	switch {
	case d.owner == nil:
	case isToCharacter && d.kind == sameKind:
		if !d.heard && messages > 0 {
			r.Tell(ops.Fact{Kind: ops.FactSpeakers, Path: path, Name: d.owner.Name})
		}
	case isToCharacter:
		tellSpeakers(path, ops.FactOthers, d.seen, r)
	default:
		tellSpeakers(path, ops.FactMarked, d.given, r)
		tellSpeakers(path, ops.FactNoMembers, d.seen, r)
	}
}

// tellSpeakers notes who speaks in so many messages, those with the most first; nothing if nobody does.
func tellSpeakers(path string, kind ops.FactKind, messages map[string]int, r *Result) {
	var list []string
	total := 0
	for name, n := range messages {
		list = append(list, name)
		total += n
	}
	if total == 0 {
		return
	}
	slices.SortFunc(list, func(a, b string) int {
		if more := messages[b] - messages[a]; more != 0 {
			return more
		}
		return strings.Compare(a, b)
	})

	if more := len(list) - mostNamed; more > 0 {
		list = append(list[:mostNamed], fmt.Sprintf("and %d more", more))
	}
	r.Tell(ops.Fact{Kind: kind, Path: path, Name: strings.Join(list, ", "), Count: total})
}
