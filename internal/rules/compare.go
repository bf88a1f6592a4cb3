package rules

import (
	"hash/maphash"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// hasher hashes messages. Only hashes of the same hasher are comparable.
type hasher struct{ seed maphash.Seed }

// hash returns the hash of what is the same in all chats that share a message: name
// and mes as they are spelled, and whether is_user is true.
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

// roll adds one more message to a rolling hash.
func roll(chain, message uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	chain = (chain ^ message) * odd
	return chain ^ chain>>29
}
