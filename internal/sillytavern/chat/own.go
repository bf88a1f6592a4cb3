package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/lazyregexp"
)

// Print identifies a message and what it holds. Prints of one seed can be compared.
type Print struct {
	IDs     []message.ID // its identity; then those it would have with its other swipes chosen
	Swipes  []message.ID // the texts it contains
	Values  []message.ID // whatever else it holds, its swipes too, but for links to chats; see [ReadPrints]
	Chosen  int          // how many of Values, from the first, it holds as it is shown, not for other swipes
	User    bool         // it is the user's
	Damaged bool
}

// IsIn reports whether the source's message is the same as p and has all its swipes.
func (p *Print) IsIn(source *Print) bool {
	return p.Same(source) && within(p.Swipes, source.Swipes)
}

// IsSlimmerThan reports whether a message is another one with fewer swipes and nothing else: what it holds for its chosen swipe is
// the same, and the other one has all of the rest, too. So a chat that was made slim has its messages.
func (p *Print) IsSlimmerThan(other *Print) bool {
	if p.Damaged || other.Damaged || p.IDs[0] != other.IDs[0] {
		return false
	}
	hasFewer := len(p.Swipes) < len(other.Swipes) && within(p.Swipes, other.Swipes)
	sameForChosen := within(other.Values[:other.Chosen], p.Values[:p.Chosen])
	return hasFewer && sameForChosen && within(p.Values, other.Values)
}

// within reports whether all of a list are in another one.
func within(list, in []message.ID) bool {
	return !slices.ContainsFunc(list, func(id message.ID) bool { return !slices.Contains(in, id) })
}

// Same reports whether the source's message, with one of its swipes chosen, is p.
func (p *Print) Same(source *Print) bool {
	return !p.Damaged && !source.Damaged && slices.Contains(source.IDs, p.IDs[0])
}

// OwnMessages returns how many messages of a chat made from the source are its own: they are
// not in the source in the same order, or have a swipe that the source lacks. Both chats are
// read in step as long as they agree; only what follows is held in memory.
func OwnMessages(ctx context.Context, source, made *Chat) (int, error) {
	var sourceErr, madeErr error
	seed := message.NewSeed()
	next, stop := iter.Pull(prints(ctx, source, seed, false, &sourceErr))
	defer stop()
	theirs, more := next()
	own := 0
	var rest []Print // of made, from where it parts from the source
	for p := range prints(ctx, made, seed, false, &madeErr) {
		inStep := len(rest) == 0 && more && p.Same(&theirs)
		if !inStep {
			rest = append(rest, p)
			continue
		}
		if !p.IsIn(&theirs) {
			own++
		}
		theirs, more = next()
	}

	if madeErr != nil {
		return 0, madeErr
	}

	places := map[message.ID][]int{} // of rest
	for i, p := range rest {
		if !p.Damaged {
			places[p.IDs[0]] = append(places[p.IDs[0]], i)
		}
	}

	at := 0 // the messages of rest before at are judged
	for ; more && at < len(rest); theirs, more = next() {
		if i := firstFrom(places, theirs, at); i >= 0 {
			own += i - at
			if !rest[i].IsIn(&theirs) {
				own++
			}
			at = i + 1
		}
	}
	return own + len(rest) - at, sourceErr
}

// firstFrom returns the first place, at or after at, of a message that is the same as the
// source's, or -1.
func firstFrom(places map[message.ID][]int, theirs Print, at int) int {
	first := -1
	for _, id := range theirs.IDs {
		list := places[id]
		k, _ := slices.BinarySearch(list, at)
		if k < len(list) && (first < 0 || list[k] < first) {
			first = list[k]
		}
	}
	return first
}

// ReadPrints returns the prints of a chat's messages, of which none may be damaged, with their values:
// those that JavaScript takes for true, under the top-level keys and those of extra, also of the
// extra of every swipe, which a message has when that swipe is chosen. What an extension keeps for each
// swipe counts as the swipe's.
func ReadPrints(ctx context.Context, c *Chat, seed message.Seed) (list []Print, err error) {
	for p := range prints(ctx, c, seed, true, &err) {
		list = append(list, p)
	}
	return list, err
}

// The keys of a message that a print is made from, by their place in what printKeys returns.
const (
	keyName = iota
	keyIsUser
	keyText
	keyDate
	keySwipes
	keySwipeInfo
	keyExtra
	keySwipeID
)

func printKeys() *jsonl.Keys {
	return jsonl.NewKeys("name", "is_user", "mes", "send_date", "swipes", "swipe_info", "extra", "swipe_id")
}

// prints returns the messages of a chat in order, including damaged ones unless values are asked for. If
// reading fails they end early, and *failed is the reason.
func prints(ctx context.Context, c *Chat, seed message.Seed, values bool, failed *error) iter.Seq[Print] {
	ids := message.NewIdentifier(seed) // there is one worker
	return func(yield func(Print) bool) {
		enough := fmt.Errorf("enough") // never seen
		opt := jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Keys: printKeys()}
		err := jsonl.Each(ctx, c.Source, opt, func(l *jsonl.Line, base jsonl.Base) error {
			p := Print{Damaged: true}
			switch {
			case l.Damage == nil:
				p = printOf(l, ids)
				if values {
					p.addValues(l, ids)
				}
			case l.Damage.Code == jsonl.BOM:
				return nil
			case values:
				d := *l.Damage
				d.Line = base.Line + l.Number + 1
				return c.DamageError(d)
			}

			if !yield(p) {
				return enough
			}
			return nil
		})
		if err == nil {
			err = c.Unchanged()
		} else if !errors.Is(err, ErrDamaged) {
			err = c.Errorf("%w", err)
		}

		*failed = err
	}
}

// printOf makes the print of a line, without values.
func printOf(l *jsonl.Line, ids *message.Identifier) Print {
	name, _ := l.Value(keyName)
	isUser, _ := l.Value(keyIsUser)
	mes, _ := l.Value(keyText)
	date, _ := l.Value(keyDate)
	swipes, _ := l.Value(keySwipes)
	infos, _ := l.Value(keySwipeInfo)

	p := Print{
		IDs:    []message.ID{ids.Identity(name, isUser, mes, date, l.Plain)},
		Swipes: []message.ID{ids.Identity(nil, nil, mes, nil, l.Plain)},
		User:   rawjson.Truthy(isUser),
	}

	var dates [][]byte // of the swipes
	for info := range rawjson.Elements(infos) {
		dates = append(dates, rawjson.Value(info, "send_date"))
	}

	i := 0
	for swipe := range rawjson.Elements(swipes) {
		own := date
		if i < len(dates) {
			own = dates[i]
		}
		i++

		isText := bytes.Equal(swipe, mes)
		if !isText || !bytes.Equal(own, date) {
			p.IDs = with(p.IDs, ids.Identity(name, isUser, swipe, own, l.Plain))
		}
		if !isText {
			p.Swipes = with(p.Swipes, ids.Identity(nil, nil, swipe, nil, l.Plain))
		}
	}
	return p
}

// with returns a list that has an ID.
func with(list []message.ID, id message.ID) []message.ID {
	if slices.Contains(list, id) {
		return list
	}
	return append(list, id)
}

// notValue reports whether a key of a message or a swipe holds no value: what identifies it,
// which swipe is chosen, and links to chats.
func notValue(key string) bool {
	switch key {
	case "name", "is_user", "mes", "send_date", "swipes", "swipe_id", "swipe_info", "extra", "bookmark_link", "branches":
		return true
	}
	return false
}

// What merge puts into the name of an attachment, or of a card, if another one has that name already.
// Each side gives such names to what is the other's, so they tell no two messages apart.
var (
	marked   = lazyregexp.New(`-[0-9a-f]{8}(\.[A-Za-z0-9]+["?#)\\])`)
	numbered = lazyregexp.New(`[0-9]+(\.png")`)
)

// addValues adds what a line holds besides its texts.
func (p *Print) addValues(l *jsonl.Line, ids *message.Identifier) {
	add := func(rawKey, value []byte) {
		if !rawjson.Truthy(value) || isEmpty(value) {
			return
		}
		key, _ := rawjson.Unquote(rawKey)
		if notValue(key) {
			return
		}
		if bytes.IndexByte(value, '/') >= 0 {
			value = marked().ReplaceAll(value, []byte("$1"))
		}
		if key == "original_avatar" || key == "force_avatar" {
			value = numbered().ReplaceAll(value, []byte("$1"))
		}
		p.Values = with(p.Values, ids.Identity(rawKey, nil, nil, value, l.Plain))
	}

	members := func(object []byte) {
		for key, value := range rawjson.Members(object) {
			add(key, value)
		}
	}

	swipes, _ := l.Value(keySwipes)
	swipeID, _ := l.Value(keySwipeID)
	chosen, _ := rawjson.Int(swipeID) // 0 where there is none
	type entry struct{ rawKey, value []byte }
	var others []entry // what is kept for the swipes that are not chosen
	for _, m := range l.Members() {
		rawKey, value := l.Raw[m.Key:m.KeyEnd], l.Raw[m.Val:m.ValEnd]
		kept, ok := perSwipe(rawKey, value, rawjson.Len(swipes))
		if !ok {
			add(rawKey, value)
			continue
		}
		for number, value := range kept {
			if number == chosen {
				add(rawKey, value)
			} else {
				others = append(others, entry{rawKey, value})
			}
		}
	}

	extra, _ := l.Value(keyExtra)
	members(extra)
	p.Chosen = len(p.Values)

	for _, e := range others {
		add(e.rawKey, e.value)
	}
	infos, _ := l.Value(keySwipeInfo)
	for swipe := range rawjson.Elements(infos) {
		members(swipe)
		members(rawjson.Value(swipe, "extra"))
	}
}

// perSwipe is [message.PerSwipe] for a raw key.
func perSwipe(rawKey, value []byte, swipes int) (values [][]byte, ok bool) {
	if kind := rawjson.KindOf(value); kind != rawjson.Array && kind != rawjson.ObjectKind {
		return nil, false
	}
	key, _ := rawjson.Unquote(rawKey)
	return message.PerSwipe(key, value, swipes)
}

// isEmpty reports whether a value is a list or an object with nothing in it.
func isEmpty(value []byte) bool {
	value = bytes.TrimSpace(value)
	kind := rawjson.KindOf(value)
	if kind != rawjson.Array && kind != rawjson.ObjectKind {
		return false
	}
	return len(bytes.TrimSpace(value[1:len(value)-1])) == 0
}
