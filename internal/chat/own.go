package chat

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// fingerprint identifies a message.
type fingerprint struct {
	ids     []message.ID // its identity; then those it would have with its other swipes chosen
	swipes  []message.ID // the texts it contains
	damaged bool
}

// in reports whether the source's message is the same as p and has all its swipes.
func (p fingerprint) in(source fingerprint) bool {
	if !p.same(source) {
		return false
	}
	return !slices.ContainsFunc(p.swipes, func(text message.ID) bool { return !slices.Contains(source.swipes, text) })
}

// same reports whether the source's message, with one of its swipes chosen, is p.
func (p fingerprint) same(source fingerprint) bool {
	return !p.damaged && !source.damaged && slices.Contains(source.ids, p.ids[0])
}

// OwnMessages returns how many messages of a chat made from the source are its own: they are
// not in the source in the same order, or have a swipe that the source lacks. Both chats are
// read in step as long as they agree; only what follows is held in memory.
func OwnMessages(ctx context.Context, source, made *Chat) (int, error) {
	var sourceErr, madeErr error
	seed := message.NewSeed()
	next, stop := iter.Pull(fingerprints(ctx, source, seed, &sourceErr))
	defer stop()
	theirs, more := next()
	own := 0
	var rest []fingerprint // of made, from where it parts from the source
	for p := range fingerprints(ctx, made, seed, &madeErr) {
		switch {
		case len(rest) == 0 && more && p.same(theirs):
			if !p.in(theirs) {
				own++
			}
			theirs, more = next()
		default:
			rest = append(rest, p)
		}
	}
	if madeErr != nil {
		return 0, madeErr
	}
	places := map[message.ID][]int{} // of rest
	for i, p := range rest {
		if !p.damaged {
			places[p.ids[0]] = append(places[p.ids[0]], i)
		}
	}
	at := 0 // the messages of rest before at are judged
	for ; more && at < len(rest); theirs, more = next() {
		if i := firstFrom(places, theirs, at); i >= 0 {
			own += i - at
			if !rest[i].in(theirs) {
				own++
			}
			at = i + 1
		}
	}
	return own + len(rest) - at, sourceErr
}

// firstFrom returns the first place, at or after at, of a message that is the same as the
// source's, or -1.
func firstFrom(places map[message.ID][]int, theirs fingerprint, at int) int {
	first := -1
	for _, id := range theirs.ids {
		list := places[id]
		k, _ := slices.BinarySearch(list, at)
		if k < len(list) && (first < 0 || list[k] < first) {
			first = list[k]
		}
	}
	return first
}

// fingerprints returns the messages of a chat in order, including damaged ones. If reading fails they
// end early, and *failed is the reason.
func fingerprints(ctx context.Context, c *Chat, seed message.Seed, failed *error) iter.Seq[fingerprint] {
	keys := jsonl.NewKeys("name", "is_user", "mes", "send_date", "swipes", "swipe_info")
	return func(yield func(fingerprint) bool) {
		type batch struct{ fingerprints []fingerprint }
		enough := fmt.Errorf("enough") // never seen
		err := jsonl.Map(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: keys, Workers: 1},
			func(l *jsonl.Line, b *batch) {
				if l.Damage == nil {
					b.fingerprints = append(b.fingerprints, fingerprintOf(l, seed))
				} else if l.Damage.Code != jsonl.BOM {
					b.fingerprints = append(b.fingerprints, fingerprint{damaged: true})
				}
			},
			func(b *batch, _ jsonl.Base, _ jsonl.Damages) error {
				for _, p := range b.fingerprints {
					if !yield(p) {
						return enough
					}
				}
				return nil
			}, nil)
		if err == nil {
			err = c.Unchanged()
		} else {
			err = c.Errorf("%w", err)
		}
		*failed = err
	}
}

// fingerprintOf makes a fingerprint from the keys of a line that fingerprints lists.
func fingerprintOf(l *jsonl.Line, seed message.Seed) fingerprint {
	value := func(k int) []byte { raw, _ := l.Value(k); return raw }
	name, isUser, mes := value(0), value(1), value(2)
	p := fingerprint{
		ids:    []message.ID{seed.Identity(name, isUser, mes, value(3))},
		swipes: []message.ID{textID(mes, seed)},
	}
	var dates [][]byte
	for info := range rawjson.Elements(value(5)) {
		dates = append(dates, rawjson.Value(info, "send_date"))
	}
	i := 0
	for swipe := range rawjson.Elements(value(4)) {
		date := value(3)
		if i < len(dates) {
			date = dates[i]
		}
		p.ids = append(p.ids, seed.Identity(name, isUser, swipe, date))
		p.swipes = append(p.swipes, textID(swipe, seed))
		i++
	}
	return p
}

// textID identifies the text of a swipe.
func textID(raw []byte, seed message.Seed) message.ID { return seed.Identity(nil, nil, raw, nil) }
