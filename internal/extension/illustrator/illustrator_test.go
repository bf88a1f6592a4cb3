package illustrator

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
)

func metadata(t *testing.T, raw string) *rawjson.Object {
	t.Helper()
	md, err := rawjson.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return md
}

func TestMarkers(t *testing.T) {
	const open = "<!-- auto-illustrator:promptId="
	for raw, want := range map[string][]string{
		`"` + open + `a,imageUrl=x -->"`: {"a"},
		`["` + open + `a,imageUrl=x -->","` + open + `b\"c,imageUrl=x -->` + open + `a,imageUrl="]`: {"a", `b"c`, "a"},
		`"` + open + `"`:                                       nil,
		`"` + open + `,imageUrl=x"`:                            nil,
		`"` + open + `a,image=x` + open + `b"`:                 nil,
		`["` + open + `a","x,imageUrl=y"]`:                     nil,
		`"auto-illustrator:promptId=a,imageUrl=x"`:             nil,
		`"<<<!-- ` + open[5:] + `a,imageUrl=x"`:                {"a"},
		`"` + open + strings.Repeat("a", 300) + `,imageUrl=x"`: nil,
		``: nil,
	} {
		if got := slices.Collect(Markers([]byte(raw))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	renames := Renames{"a": `é"`, "b": "c"}
	line := `{"mes":"` + open + `a,imageUrl=x -->","x":"` + open + `a,imageUrl=x -->" , "swipes":["","` + open + `b,imageUrl=x --> ` + open + `d,imageUrl=x -->"]}`
	want := `{"mes":"` + open + `é\",imageUrl=x -->","x":"` + open + `a,imageUrl=x -->" , "swipes":["","` + open + `c,imageUrl=x --> ` + open + `d,imageUrl=x -->"]}`
	if got := string(renames.Line([]byte(line))); got != want {
		t.Errorf("renamed: %s", got)
	}
}

// A prompt whose new id another one keeps stays; so does one that would get the id of
// that, and so on, in one pass.
func TestDriftsThatStay(t *testing.T) {
	node := func(id string, at int) string {
		return fmt.Sprintf(`%q:{"id":%[1]q,"messageId":%d,"promptIndex":0,"text":"t","parentId":null,"childIds":[]}`, id, at)
	}
	// each prompt's marker lies one message later: it would get the id of the next
	const n = 2000
	var nodes []string
	places := Places{}
	for i := range n {
		nodes = append(nodes, node(PromptID("t", i, 0), i))
		if i < n-1 {
			places.Add(PromptID("t", i, 0), i+1)
		}
	}
	md := `{"auto_illustrator":{"promptRegistry":{"nodes":{` + strings.Join(nodes, ",") + `},"imageToPromptId":{},"rootPromptIds":[]}}}`
	for _, d := range Read(metadata(t, md)).Drifts(places) {
		if d.Why == "" {
			t.Fatalf("%s is moved, though the last one stays", d.ID)
		}
	}
	places.Add(PromptID("t", n-1, 0), n)
	object := metadata(t, md)
	if _, renamed := FixDrift(object, places); len(renamed) != n {
		t.Errorf("%d of %d renamed", len(renamed), n)
	}
	again := Places{}
	for i := range n {
		again.Add(PromptID("t", i+1, 0), i+1)
	}
	if left := Read(object).Drifts(again); len(left) > 0 {
		t.Errorf("still adrift: %+v", left[0])
	}
}

// A tree has one message; what cannot be read of a prompt is not judged.
func TestTrees(t *testing.T) {
	at := func(m int) string { return PromptID("t", m, 0) }
	md := fmt.Sprintf(`{"auto_illustrator":{"promptRegistry":{"nodes":{
		%q:{"id":%[1]q,"messageId":4,"promptIndex":0,"text":"t","parentId":null},
		"c":{"id":"c","messageId":4,"promptIndex":0,"text":"u","parentId":%[1]q},
		"odd":{"id":"odd","messageId":"4","promptIndex":0,"text":"t","parentId":"odd2"},
		"odd2":{"id":"odd2","messageId":1,"promptIndex":0,"parentId":"odd"}
	},"imageToPromptId":{},"rootPromptIds":[]}}}`, at(4))
	said := func(places Places) (list []string) {
		for _, d := range Read(metadata(t, md)).Drifts(places) {
			list = append(list, fmt.Sprintf("%s to %d, %s", d.ID, d.Message, d.Why))
		}
		return list
	}
	for _, c := range []struct {
		places Places
		want   []string
	}{
		{Places{}, []string{"c to -1, no marker tells its message"}},
		{Places{"c": 2}, []string{at(4) + " to 2, ", "c to 2, "}},
		{Places{at(4): 4}, []string{"c to 4, "}},
		{Places{at(4): 4, "c": 2}, []string{"c to -1, markers of it, or of those that it refines, lie in several messages"}},
		{Places{at(4): Several}, []string{at(4) + " to -1, markers of it, or of those that it refines, lie in several messages", "c to -1, no marker tells its message"}},
		{Places{"odd": 7, "odd2": 8, "c": 4}, []string{"c to 4, "}},
	} {
		if diff := cmp.Diff(c.want, said(c.places)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.places, diff)
		}
	}
}

// What is allocated to judge and to repair a registry grows as the registry does, however
// much of it is wrong.
func TestScale(t *testing.T) {
	allocated := func(n int) uint64 {
		var nodes strings.Builder
		for i := range n {
			fmt.Fprintf(&nodes, `,"p%d":{"id":"q","messageId":%[1]d,"promptIndex":0,"text":"t","parentId":"p%d","childIds":["x","p%[2]d"]}`, i, (i+1)%n)
		}
		md := metadata(t, `{"auto_illustrator":{"promptRegistry":{"nodes":{`+nodes.String()[1:]+`},"imageToPromptId":{},"rootPromptIds":["x"]}}}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := Read(md)
		faults := len(r.Misshapen()) + len(r.Drifts(Places{"p0": 9}))
		r.Dangling(func(string) { faults++ })
		if want := n + n + n + 2; faults != want {
			t.Errorf("%d faults, want %d", faults, want)
		}
		FixShape(md)
		FixDangling(md)
		FixDrift(md, Places{"p0": 9})
		left := 0
		Read(md).Dangling(func(string) { left++ })
		if left+len(Read(md).Misshapen()) > 0 {
			t.Error("something is left")
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(500), allocated(8000)
	if many > 3*16*few {
		t.Errorf("%d bytes for 500 prompts, %d for 16 times as many", few, many)
	}
}
