// Package luker knows what Luker, a fork of SillyTavern, keeps beside and inside its chats.
//
// Beside a chat lie its sidecars, one file per namespace: floor logs, which record what
// each message changed and are cut with the chat; chat_sync, which belongs to one file
// only; and others, which only their plugin understands. Beside a character's card lies
// state of the same kind. A floor log is read as a stream, since it may not fit into
// memory: [EachCommit], [Rewrite] and [Cut] hold one commit at a time, [ReplayLog] holds
// the state.
//
// Inside the chat, messages note what they did to variables, and chat_metadata.variables
// is only the result: [Variables] computes it again.
//
// [Variables] and [Replay] share operation.go: values as JavaScript holds them, and the limits
// of what a replay may cost. Their operations have nothing in common: those on variables
// follow dotted paths, create what is missing and turn texts into numbers and lists;
// those of floor logs follow JSON pointers and fail where something is missing.
//
// Where Luker keeps its data in a database, the files are stale copies; [InDatabase]
// finds that out.
package luker

import (
	"bytes"
	"slices"

	"stchat/internal/extension"
	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// Extension is Luker's chat_metadata.variables. Variables that operations of the messages
// mention get the value that replaying them yields, those that only messages mention that a
// branch does not have, or that go, are deleted, and all others, which scripts and lorebooks may
// have set, stay. When it opens a chat, Luker itself rebuilds the first kind but forgets about
// the second. A chat of plain SillyTavern has no operations, so its variables stay as they are.
type Extension struct {
	extension.None
	variables Variables
	changed   bool // operations come, go or change

	sidecars []Sidecar   // of a chat that is judged
	swipes   map[int]int // the chosen ones of messages that floor logs name
}

// KeyOperations is the key of extra under which a message notes operations on variables.
const KeyOperations = "var_ops"

const keyVariables = "variables"

// About returns the keys of the variables and their operations.
func (*Extension) About() extension.About {
	return extension.About{Name: "luker", Keys: []string{keyVariables}, Reads: []string{KeyOperations}}
}

// Look returns a message's operations.
func (*Extension) Look(m *extension.Message) any {
	if operations := m.Value(KeyOperations); rawjson.KindOf(operations) == rawjson.Array {
		return bytes.Clone(operations)
	}
	return nil
}

// Keep replays the operations of a message.
func (e *Extension) Keep(i int, fact any) {
	if operations, ok := fact.([]byte); ok {
		e.variables.Apply(operations)
		e.changed = e.changed || i < 0
	}
}

// Drop notes which variables a message mentions.
func (e *Extension) Drop(_ int, fact any) {
	operations, _ := fact.([]byte)
	e.variables.Mention(operations)
	e.changed = true
}

// Isolate sets the variables to what replaying yields.
func (e *Extension) Isolate(b *extension.Branch) { e.replay(b.Metadata, &b.Report) }

// Follow sets the variables to what replaying yields, if operations come, go or change.
func (e *Extension) Follow(f *extension.Following) {
	if e.changed {
		e.replay(f.Metadata, &f.Report)
	}
}

func (e *Extension) replay(metadata *rawjson.Object, r *extension.Report) {
	if !e.variables.Any() {
		return
	}
	raw, ok := metadata.Get(keyVariables)
	if !ok {
		raw = []byte("{}")
	}
	variables, err := rawjson.ParseObject(raw)
	if err != nil {
		r.Add(e, "variables left as they are: they are %s, not an object", rawjson.KindOf(raw))
		return
	}
	replayed, deleted := 0, 0
	for _, v := range e.variables.Kept() {
		present, has := variables.Get(v.Name)
		switch {
		case v.Err != nil:
			r.Leave(e, "variable %q left as it is at the end of the source: %v", v.Name, v.Err)
		case v.Raw == nil && has:
			variables.Unset(v.Name)
			deleted++
		case v.Raw != nil && (!has || !sameValue(present, v.Raw)):
			variables.Set(v.Name, v.Raw)
			replayed++
		}
	}

	for _, name := range e.variables.Later() {
		if variables.Unset(name) {
			deleted++
		}
	}

	if replayed > 0 {
		r.Add(e, "%s replayed", plural.S(replayed, "variable"))
	}
	if deleted > 0 {
		r.Add(e, "%s deleted", plural.S(deleted, "variable"))
	}
	if variables.Edited() {
		metadata.Set(keyVariables, variables.Bytes())
	}
}

// sameValue reports whether two raw values are the same to JSON.parse, so that a correct
// value keeps its spelling.
func sameValue(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	v, ok := jsvalue.Parse(a)
	w, also := jsvalue.Parse(b)
	return ok && also && slices.Equal(jsvalue.Stringify(v), jsvalue.Stringify(w))
}
