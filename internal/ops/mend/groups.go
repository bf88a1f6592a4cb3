package mend

import (
	"bytes"

	"stchat/internal/group"
	"stchat/internal/rules"
)

// groupEdit is what chats ask of one group file.
type groupEdit struct {
	group.Edit
	was []byte // the file as it was judged
}

// tell returns what the edit does.
func (e *groupEdit) tell() *told {
	t := &told{}
	joined, data, err := e.Apply(e.was)
	if err != nil {
		return t // the edit was not made either
	}
	if !bytes.Equal(joined, e.was) {
		t.add(step{rules.GroupUnlisted, 0, noMessage}, text("added to the group's chats: "+quoteAll(e.List)), e.was, joined)
	}
	if !bytes.Equal(data, joined) {
		t.add(step{rules.GroupOldLayout, 0, noMessage}, text("took out the metadata of "+quoteAll(e.Forget)), joined, data)
	}
	return t
}
