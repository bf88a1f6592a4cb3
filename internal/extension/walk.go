package extension

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsonl/rawjson"
)

// walk goes to the values at the end of a row's path, and edits them.
type walk struct {
	path []string
	at   []string // the path so far, with keys and indexes for [Each]
	goes int      // the step of which a member or element goes with a value that does not stay

	// edit returns a value as it is to be, and whether it stays. Where a key is the value, it gets
	// and returns that: a name in quotes, a number without.
	edit func(raw []byte) (edited []byte, stays bool)
	// gone is told what goes, if it is not nil.
	gone func(raw []byte)
}

func newWalk(r Row) *walk {
	path := strings.Split(r.Path, "/")
	w := &walk{path: path, at: slices.Clone(path), goes: len(path) - 1}
	for i, step := range path {
		if step == Each || step == Numbered {
			w.goes = i
		}
	}
	return w
}

// mayBeIn reports whether an object has the key at which a row's path begins.
func (r Row) mayBeIn(root *rawjson.Object) bool {
	first, _, _ := strings.Cut(r.Path, "/")
	return first == Each || first == Named || root.Has(first)
}

// here returns the path of the value that is edited.
func (w *walk) here() string { return strings.Join(w.at, "/") }

// object edits what the path leads to from an object, of which step is a key. It reports whether the
// object stays.
func (w *walk) object(o *rawjson.Object, step int) (stays bool) {
	switch w.path[step] {
	case Each:
		for _, key := range o.Keys() {
			w.member(o, key, step)
		}
		return true
	case Numbered, Named:
		w.keys(o, step)
		return true
	}
	return w.member(o, w.path[step], step)
}

// member edits what the path leads to under a key.
func (w *walk) member(o *rawjson.Object, key string, step int) (stays bool) {
	raw, ok := o.Get(key)
	if !ok {
		return true
	}
	w.at[step] = key
	edited, stays := w.value(raw, step+1)
	switch {
	case stays && !bytes.Equal(edited, raw):
		o.Set(key, edited)
	case !stays && step == w.goes:
		w.drop(raw)
		o.Unset(key)
		return true
	}
	return stays
}

// value edits what the path leads to from a value.
func (w *walk) value(raw []byte, step int) (edited []byte, stays bool) {
	if step == len(w.path) {
		return w.edit(raw)
	}
	if w.path[step] == Each && rawjson.KindOf(raw) == rawjson.Array {
		return w.list(raw, step), true
	}
	stays = true
	edited = rawjson.Edit(raw, func(o *rawjson.Object) { stays = w.object(o, step) })
	return edited, stays
}

// list edits what the path leads to from each element of a list.
func (w *walk) list(raw []byte, step int) []byte {
	return rawjson.EditList(raw, func(i int, element []byte) ([]byte, bool) {
		w.at[step] = strconv.Itoa(i)
		edited, stays := w.value(element, step+1)
		if !stays {
			w.drop(element)
		}
		return edited, stays
	})
}

func (w *walk) drop(raw []byte) {
	if w.gone != nil {
		w.gone(raw)
	}
}

// keys edits the keys of an object that are numbers of messages, or the name of a chat.
func (w *walk) keys(o *rawjson.Object, step int) {
	moves := map[string]string{}
	var order []string
	for _, key := range o.Keys() {
		if !w.isKey(o, key, step) {
			continue
		}
		if to, stays := w.key(key, step); !stays {
			w.drop(o.Value(key))
			o.Unset(key)
		} else if to != key {
			moves[key] = to
			order = append(order, key)
		}
	}

	order = possible(o, order, moves)
	values := make([][]byte, len(order))
	for i, key := range order {
		values[i] = o.Value(key)
		o.Unset(key)
	}

	for i, key := range order {
		o.Set(moves[key], values[i])
	}
}

// possible returns the keys that can move: those to whose new key no other comes, and no other stays
// at.
func possible(o *rawjson.Object, order []string, moves map[string]string) []string {
	for {
		claimed, goes := map[string]bool{}, map[string]bool{}
		for _, key := range order {
			goes[key] = true
		}
		free := slices.DeleteFunc(slices.Clone(order), func(key string) bool {
			to := moves[key]
			taken := claimed[to] || o.Has(to) && !goes[to]
			claimed[to] = true
			return taken
		})

		if len(free) == len(order) {
			return order
		}
		order = free
	}
}

// isKey reports whether a key is one that the step stands for.
func (w *walk) isKey(o *rawjson.Object, key string, step int) bool {
	if w.path[step] == Numbered {
		number, err := strconv.Atoi(key)
		return err == nil && number >= 0 && strconv.Itoa(number) == key
	}
	return isIn(o.Value(key), w.path[step+1:])
}

// isIn reports whether a value has something at the end of a path.
func isIn(value []byte, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if !bytes.Contains(value, rawjson.Quote(path[len(path)-1])) {
		return false // most values, at the speed of memory
	}
	_, found := rawjson.Lookup(value, path...)
	return found
}

// key returns a key as it is to be.
func (w *walk) key(key string, step int) (to string, stays bool) {
	if w.path[step] == Numbered {
		edited, stays := w.edit([]byte(key))
		return string(edited), stays
	}
	edited, stays := w.edit(rawjson.Quote(key))
	to, _ = rawjson.Unquote(edited)
	return to, stays
}
