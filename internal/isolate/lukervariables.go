package isolate

import (
	"bytes"
	"slices"

	"stchat/internal/extension/luker"
	"stchat/internal/jsvalue"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// lukerVariables deals with Luker's chat_metadata.variables (FORMATS.md A3). Variables
// that operations of messages 0 to N mention get the value that replaying them yields,
// those that only later messages mention are deleted, and all others, which scripts and
// lorebooks may have set, stay. When it opens a chat, Luker itself rebuilds the first
// kind but forgets about the second. A chat of plain SillyTavern has no operations, so
// its variables stay as they are.
type lukerVariables struct{ sum luker.Variables }

func (*lukerVariables) Name() string    { return "luker" }
func (*lukerVariables) Owns() []string  { return []string{keyVariables} }
func (*lukerVariables) Needs() []string { return []string{keyExtra} }

const keyVariables = "variables"

func (*lukerVariables) Look(m *Message) any {
	ops := m.Extra("var_ops")
	if rawjson.KindOf(ops) != rawjson.Array {
		return nil
	}
	return bytes.Clone(ops)
}

func (l *lukerVariables) Keep(_ int, fact any) {
	if ops, ok := fact.([]byte); ok {
		l.sum.Apply(ops)
	}
}

func (l *lukerVariables) Later(fact any) {
	if ops, ok := fact.([]byte); ok {
		l.sum.Mention(ops)
	}
}

func (l *lukerVariables) Apply(metadata *rawjson.Object, _ Moment) []Change {
	return Variables(metadata, &l.sum)
}

// Variables sets chat_metadata.variables to what replaying operations yields, and returns
// what it changed.
func Variables(metadata *rawjson.Object, sum *luker.Variables) []Change {
	if !sum.Any() {
		return nil
	}
	r := &report{extension: (*lukerVariables)(nil).Name()}
	raw, ok := metadata.Get(keyVariables)
	if !ok {
		raw = []byte("{}")
	}
	variables, err := rawjson.ParseObject(raw)
	if err != nil {
		r.add("variables left as they are: they are %s, not an object", rawjson.KindOf(raw))
		return r.changes
	}
	replayed, deleted := 0, 0
	for _, v := range sum.Kept() {
		present, has := variables.Get(v.Name)
		switch {
		case v.Err != nil:
			r.leave("variable %q left as it is at the end of the source: %v", v.Name, v.Err)
		case v.Raw == nil && has:
			variables.Unset(v.Name)
			deleted++
		case v.Raw != nil && (!has || !sameValue(present, v.Raw)):
			variables.Set(v.Name, v.Raw)
			replayed++
		}
	}
	for _, name := range sum.Later() {
		if variables.Unset(name) {
			deleted++
		}
	}
	if replayed > 0 {
		r.add("%s replayed", plural.S(replayed, "variable"))
	}
	if deleted > 0 {
		r.add("%s deleted", plural.S(deleted, "variable"))
	}
	if variables.Edited() {
		metadata.Set(keyVariables, variables.Bytes())
	}
	return r.changes
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
