package ops

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/json/metadiff"
)

func TestMeanings(t *testing.T) {
	recap := func(current string, versions string) string {
		return `"auto_recap_running_scene_recaps":{"current_version":` + current + `,"versions":[` + versions + `]}`
	}
	for _, test := range []struct {
		name, a, b string
		sel        metadiff.Selection
		want       []string
	}{
		{"nothing known", `{"x":1}`, `{"x":2}`, metadiff.Selection{}, nil},
		{"child", `{}`, `{"main_chat":"chat A"}`, metadiff.Selection{}, []string{"B was made from A"}},
		{"parent", `{"main_chat":"chat B"}`, `{}`, metadiff.Selection{}, []string{"A was made from B"}},
		{"siblings", `{"main_chat":"P"}`, `{"main_chat":"P"}`, metadiff.Selection{}, []string{`A and B were both made from "P"`}},
		{"slug", `{"integrity":"i"}`, `{"integrity":"i"}`, metadiff.Selection{}, []string{"same integrity: SillyTavern cannot tell A and B apart"}},
		{"slugs", `{"integrity":"i"}`, `{"integrity":"j"}`, metadiff.Selection{}, []string{"different integrity, as two chats should have"}},
		{"shared", `{"world_info":"W"}`, `{"world_info":"W"}`, metadiff.Selection{}, []string{`B shares its lorebook "W" with A`}},
		{"shared, but ignored", `{"world_info":"W"}`, `{"world_info":"W"}`, metadiff.Selection{Ignore: []string{"world_*"}}, nil},
		{"books", `{"world_info":"W"}`, `{"world_info":"V"}`, metadiff.Selection{}, []string{`different lorebooks: "W" in A, "V" in B`}},
		{"a book", `{"world_info":"W"}`, `{"world_info":""}`, metadiff.Selection{}, []string{`only A has a lorebook: "W"`}},
		{"another book", `{}`, `{"world_info":"W"}`, metadiff.Selection{}, []string{`only B has a lorebook: "W"`}},
		{"behind", "{" + recap("5", "{}") + "}", "{" + recap("2", "{}") + "}", metadiff.Selection{}, []string{"B's running recap is 3 versions behind A's"}},
		{"ahead", "{" + recap("5", "{}") + "}", "{" + recap("6", "{}") + "}", metadiff.Selection{}, []string{"B's running recap is 1 version ahead of A's"}},
		{"one recap", "{" + recap("0", "{}") + "}", "{" + recap("0", "") + "}", metadiff.Selection{}, []string{"only A has a running recap"}},
		{"recap of another shape", `{"auto_recap_running_scene_recaps":7}`, "{" + recap("1e99", "{}") + "}", metadiff.Selection{}, nil},
		{"prompts", `{"auto_illustrator":{"promptRegistry":{"nodes":{"a":{},"b":{}}}}}`, `{"auto_illustrator":5}`, metadiff.Selection{}, []string{"Auto-Illustrator's prompts: 2 in A, 0 in B"}},
	} {
		d, err := metadiff.Compare([]byte(test.a), []byte(test.b), test.sel)
		if err != nil {
			t.Fatal(err)
		}
		got := meaningsOf(d, "chat A", "chat B")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
}
