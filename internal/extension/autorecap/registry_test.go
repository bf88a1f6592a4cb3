package autorecap

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/lorebook"
)

func TestReferences(t *testing.T) {
	b, err := lorebook.Parse([]byte(`{"entries":{"1":{"uid":1,"comment":"a"},"2":{"uid":2,"comment":"_registry_x","content":"[Registry: x]\n- UID=1 | name: A\n- uid: 7 | B\nUID=3 | not an item\n- id: 4 | name\n -  UID = 2 |\n- UID="}}}`), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	want := []Reference{
		{Comment: "_registry_x", UID: "1", Found: true},
		{Comment: "_registry_x", UID: "7"},
		{Comment: "_registry_x", UID: "2", Found: true},
	}
	if diff := cmp.Diff(want, References(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	demo, err := lorebook.Open("../../../testdata/demo/worlds/z-AutoLB-Gull Rock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range References(demo) {
		if !r.Found {
			t.Errorf("demo: %+v", r)
		}
	}
}
