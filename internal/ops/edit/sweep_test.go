package edit

import (
	"fmt"
	"strings"
	"testing"

	"stchat/internal/jsonl"
)

// Of many operations on one message none is kept in memory once it is made.
func TestOperationsOnOneMessage(t *testing.T) {
	var ops strings.Builder
	for i := range 100 {
		fmt.Fprintf(&ops, `{"op":"set","at":0,"set":{"x":%d}}`+"\n", i)
	}
	list, err := ReadOperations(t.Context(), "ops", jsonl.Bytes([]byte(ops.String())))
	if err != nil {
		t.Fatal(err)
	}
	s := &sweep{list: list, opt: &Options{}, rest: list.edit}
	edited, err := s.edit(0)([]byte(`{"mes":"a","name":"b","is_user":true}`))
	if want := `{"mes":"a","name":"b","is_user":true,"x":99}`; err != nil || string(edited) != want {
		t.Errorf("%s, %v", edited, err)
	}
	for _, d := range s.active {
		if d.edit != nil {
			t.Fatalf("the operation at %d is kept", d.op)
		}
	}
	if len(s.active) != 100 {
		t.Errorf("%d operations are on the message", len(s.active))
	}
}
