package family

import "testing"

// Names that change into each other's change at once, each name where it is written.
func TestEdits(t *testing.T) {
	c := &Chat{Path: "p", Name: "C"}
	place := func(index int, kind Kind, name string) Reference { return Reference{"p", c, index, kind, name} }
	edits := Edits{}
	edits.Name(place(2, Branch, "A"), "AA")
	edits.Name(place(2, Branch, "AA"), "AAA")
	edits.Name(place(Header, Parent, "A"), "")
	e := edits["p"]
	e.Branch(4, "X")
	if e.Loses {
		t.Error("no link goes")
	}
	edits.Name(place(3, Checkpoint, "B"), "")
	if !e.Loses {
		t.Error("a link goes")
	}
	want := map[int][2]string{
		Header: {`{"chat_metadata":{"main_chat":"A"}}`, `{"chat_metadata":{}}`},
		2:      {`{"extra":{"branches":["A","AA","D"]}}`, `{"extra":{"branches":["AA","AAA","D"]}}`},
		3:      {`{"extra":{"bookmark_link":"B"}}`, `{"extra":{}}`},
		4:      {`{"extra":{}}`, `{"extra":{"branches":["X"]}}`},
	}
	lines := e.Lines()
	if len(lines) != len(want) {
		t.Errorf("%d lines are edited, want %d", len(lines), len(want))
	}
	for _, l := range lines {
		got, err := l.Do([]byte(want[l.Index][0]))
		if string(got) != want[l.Index][1] || err != nil {
			t.Errorf("line %d is %s, %v; want %s", l.Index, got, err, want[l.Index][1])
		}
	}
}
