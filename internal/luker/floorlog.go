package luker

import (
	"fmt"
	"strconv"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// CutFloorLog gives the floor log of a branch that has the first messages of the
// source's: the commits of later messages go (FORMATS.md A2.4, A2.5: truncateCommits),
// those of all swipes stay, in their order and byte for byte but for white space. Like
// Luker's normalizeLog it drops commits that are not valid and top-level keys other
// than its own. Where nothing is left out is nil: no file is written then. The error
// is that the log is not JSON.
func CutFloorLog(raw []byte, messages int) (out []byte, kept, dropped int, err error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, 0, 0, fmt.Errorf("the floor log cannot be read: %w", damage)
	}
	list, _ := rawjson.Lookup(raw, "commits")
	out = append(out, `{"version":1,"commits":[`...)
	for element := range rawjson.Elements(list) {
		c, ok := readCommit(element)
		if !ok || c.floor >= messages {
			dropped++
			continue
		}
		if kept > 0 {
			out = append(out, ',')
		}
		out = append(out, rawjson.Compact(element)...)
		kept++
	}
	if kept == 0 {
		return nil, 0, dropped, nil
	}
	return append(out, `]}`...), kept, dropped, nil
}

// commit is one entry of a floor log.
type commit struct {
	floor, swipe int
	patches      []byte
}

// readCommit is isValidCommit of floor-state/core.js.
func readCommit(raw []byte) (c commit, ok bool) {
	if rawjson.KindOf(raw) != rawjson.ObjectKind {
		return c, false
	}
	c.floor, c.swipe = -1, -1
	for key, value := range rawjson.Members(raw) {
		switch {
		case rawjson.KeyIs(key, "floor"):
			c.floor = index(value)
		case rawjson.KeyIs(key, "swipeId"):
			c.swipe = index(value)
		case rawjson.KeyIs(key, "patches"):
			c.patches = value
		}
	}
	if c.floor < 0 || c.swipe < 0 || rawjson.KindOf(c.patches) != rawjson.Array {
		return c, false
	}
	for range rawjson.Elements(c.patches) {
		return c, true
	}
	return c, false
}

// index reads a whole number from 0, or gives -1.
func index(raw []byte) int {
	if n, ok := rawjson.Int(raw); ok && n >= 0 {
		return n
	}
	return -1
}

// SyncData gives the content of the chat_sync sidecar of a chat whose header has
// this slug; now is in milliseconds since 1970.
func SyncData(integrity string, now int64) []byte {
	out := append([]byte(`{"integrity":`), rawjson.Quote(integrity)...)
	out = append(out, `,"updated_at":`...)
	out = strconv.AppendInt(out, now, 10)
	return append(out, '}')
}
