package rules

import (
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

// roll puts one more message behind a rolling hash.
func roll(chain, message uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	chain = (chain ^ message) * odd
	return chain ^ chain>>29
}
