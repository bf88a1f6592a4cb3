package rules

import (
	"context"
	"errors"
	"hash/maphash"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// hasher hashes messages; hashes of one hasher can be compared.
type hasher struct{ seed maphash.Seed }

// hash is the hash of what two chats that share a message agree on: its name,
// is_user and mes, as they are spelled.
func (h hasher) hash(l *jsonl.Line) uint64 {
	name, _ := l.Value(keyName)
	user, _ := l.Value(keyIsUser)
	mes, _ := l.Value(keyMes)
	sum := maphash.Bytes(h.seed, mes)
	sum = roll(sum, maphash.Bytes(h.seed, name))
	if rawjson.Truthy(user) {
		sum = ^sum
	}
	return sum
}

// meaning is the hash of a message's name, is_user and mes as they read,
// however they are spelled.
func (h hasher) meaning(l *jsonl.Line) uint64 {
	text := func(key int) uint64 {
		raw, _ := l.Value(key)
		if s, ok := rawjson.Unquote(raw); ok {
			return maphash.String(h.seed, s)
		}
		return ^maphash.Bytes(h.seed, raw)
	}
	user, _ := l.Value(keyIsUser)
	sum := roll(text(keyMes), text(keyName))
	if rawjson.Truthy(user) {
		sum = ^sum
	}
	return sum
}

// roll puts one more message behind a rolling hash.
func roll(chain, message uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	chain = (chain ^ message) * odd
	return chain ^ chain>>29
}

// errFound ends a search.
var errFound = errors.New("found")

// holds reports whether one of the chat's messages says the same as that with
// the given meaning.
func (h hasher) holds(ctx context.Context, path string, meaning uint64) (bool, error) {
	src, f, _, err := open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = jsonl.Map(ctx, src, jsonl.MapOptions{Limit: -1, Keys: lineKeys(), Workers: 1},
		func(l *jsonl.Line, found *bool) {
			if l.Damage == nil && !*found {
				*found = h.meaning(l) == meaning
			}
		},
		func(found *bool, _ jsonl.Base, _ jsonl.Damages) error {
			if *found {
				return errFound
			}
			return nil
		}, nil)
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
