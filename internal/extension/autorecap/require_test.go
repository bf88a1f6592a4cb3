package autorecap

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
)

func TestParseRequirements(t *testing.T) {
	for _, c := range []struct {
		in, want []string
		bad      bool
	}{
		{nil, []string{}, false},
		{[]string{"running-recap, queue-empty", "running-recap"}, []string{QueueEmpty, RunningRecap}, false},
		{[]string{"auto-recap"}, []string{QueueEmpty, SceneBreak, SceneRecap, RunningRecap}, false},
		{[]string{""}, nil, true},
		{[]string{"queue"}, nil, true},
	} {
		got, err := ParseRequirements(c.in)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.bad {
			t.Errorf("%q: %v (-want +got):\n%s", c.in, err, diff)
		}
	}
}

func TestJudge(t *testing.T) {
	store := func(s string) string { return `{"auto_recap_running_scene_recaps":` + s + `}` }
	queue := func(content string) string {
		return `{"entries":{"1":{"uid":1,"comment":"__operation_queue","content":` + content + `}}}`
	}
	for _, c := range []struct {
		name, metadata, book string
		scene                Scene
		want                 string // "" where it holds
		unreadable           bool
	}{
		{name: QueueEmpty},
		{name: QueueEmpty, book: `{"entries":{}}`},
		{name: QueueEmpty, book: queue(`"{\"queue\":[{\"status\":\"completed\"}]}"`)},
		{
			name: QueueEmpty, book: queue(`"{\"queue\":[{\"status\":\"retrying\",\"type\":\"a\"},{\"status\":\"pending\",\"type\":\"b\"},{\"status\":\"pending\",\"type\":\"a\"}]}"`),
			want: `queue-empty: 3 pending operations in the queue of the lorebook "Book" (a, b)`,
		},
		{name: QueueEmpty, book: queue(`"{\"queue\":[{\"status\":\"in_progress\"}]}"`), want: `queue-empty: 1 pending operation in the queue of the lorebook "Book"`},
		{name: QueueEmpty, book: queue(`"oops"`), unreadable: true},
		{name: SceneBreak, scene: Scene{Break: true}},
		{name: SceneBreak, scene: Scene{Recap: true}, want: "scene-break: message 12 is not a scene break"},
		{name: SceneBreak, scene: Scene{Break: true, Hidden: true}, want: "scene-break: the scene break at message 12 is hidden"},
		{name: SceneRecap, scene: Scene{Recap: true}},
		{name: SceneRecap, scene: Scene{Break: true}, want: "scene-recap: message 12 has no scene recap"},
		{name: RunningRecap, want: "running-recap: the metadata has no auto_recap_running_scene_recaps"},
		{name: RunningRecap, metadata: store("[]"), want: "running-recap: the metadata has no auto_recap_running_scene_recaps"},
		{name: RunningRecap, metadata: store(`{"current_version":0,"versions":[]}`), want: "running-recap: there are no versions of the running recap"},
		{name: RunningRecap, metadata: store(`{"current_version":0,"versions":[{"version":0,"content":"c"}]}`)},
		{name: RunningRecap, metadata: store(`{"versions":[{"version":0.0,"content":"c"}]}`)},
		{name: RunningRecap, metadata: store(`{"current_version":1,"versions":[{"version":1,"content":""},{"version":1,"content":"c"}]}`)},
		{name: RunningRecap, metadata: store(`{"current_version":0,"versions":[{"version":0,"content":""}]}`), want: "running-recap: version 0 has no content"},
		{
			name: RunningRecap, metadata: store(`{"current_version":4,"versions":[{"version":3},{"version":0},{"version":1},{"version":2},{"version":"4"}]}`),
			want: "running-recap: current_version 4 is not among versions 0-3",
		},
		{name: RunningRecap, metadata: store(`{"current_version":4,"versions":[{"version":7},{"version":2},{"version":3}]}`), want: "running-recap: current_version 4 is not among versions 2-3, 7"},
		{name: RunningRecap, metadata: store(`{"current_version":"4","versions":[{"version":4,"content":"c"}]}`), want: "running-recap: current_version is a string, not a number"},
	} {
		if c.metadata == "" {
			c.metadata = "{}"
		}
		s := State{At: 12, Scene: c.scene}
		var err error
		if s.Metadata, err = rawjson.ParseObject([]byte(c.metadata)); err != nil {
			t.Fatal(err)
		}
		if c.book != "" {
			if s.Book, err = lorebook.Parse([]byte(c.book), "Book.json"); err != nil {
				t.Fatal(err)
			}
		}
		results, err := Judge([]string{c.name}, s)
		if c.unreadable {
			if err == nil || !strings.HasPrefix(err.Error(), "queue-empty: Book.json: ") {
				t.Errorf("%s: %v, %v", c.book, results, err)
			}
			continue
		}
		if got := strings.Join(results, "\n"); err != nil || got != c.want {
			t.Errorf("%s %s%s:\n%s, %v\nwant\n%s", c.name, c.metadata, c.book, got, err, c.want)
		}
	}
}
