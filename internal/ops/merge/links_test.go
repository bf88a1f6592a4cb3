package merge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLacking: which links a message gets, and which of two checkpoints becomes a branch.
func TestLacking(t *testing.T) {
	branch := func(name string) link { return link{name: name} }
	checkpoint := func(name string) link { return link{checkpoint: true, name: name} }

	for _, test := range []struct {
		name      string
		has, come []link
		areOurs   bool
		put       []link
		branches  []string
	}{
		{name: "nothing comes", has: []link{checkpoint("A")}},
		{name: "what is there", has: []link{branch("A")}, come: []link{branch("A")}},
		{name: "what is there as a checkpoint", has: []link{checkpoint("A")}, come: []link{branch("A")}},
		{name: "a branch", has: []link{checkpoint("A")}, come: []link{branch("B")}, put: []link{branch("B")}},
		{name: "the first checkpoint", has: []link{branch("A")}, come: []link{checkpoint("B")}, put: []link{checkpoint("B")}},
		{
			name: "FROM's checkpoint beside INTO's", has: []link{checkpoint("A")}, come: []link{checkpoint("B")},
			put: []link{branch("B")}, branches: []string{"B"},
		},
		{
			name: "INTO's checkpoint beside FROM's", has: []link{checkpoint("B")}, come: []link{checkpoint("A")}, areOurs: true,
			put: []link{checkpoint("A"), branch("B")}, branches: []string{"B"},
		},
		{name: "one name twice", come: []link{branch("A"), branch("A")}, put: []link{branch("A")}},
	} {
		has := append([]link(nil), test.has...)
		put, branches := lacking(test.has, test.come, test.areOurs)
		if diff := cmp.Diff(test.put, put, cmp.AllowUnexported(link{})); diff != "" {
			t.Errorf("%s: links (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.branches, branches); diff != "" {
			t.Errorf("%s: branches (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(has, test.has, cmp.AllowUnexported(link{})); diff != "" {
			t.Errorf("%s: the message's own links changed (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestNewNames: what a chat is called that comes to a folder where its name may be taken.
func TestNewNames(t *testing.T) {
	here := map[string]bool{"Harbour": true, "Harbour__phone": true, "Inn (2)": true, "Inn": true}
	coming := map[string]bool{"Harbour (2)": true}
	isHere := func(name string) bool { return here[name] }
	isComing := func(name string) bool { return coming[name] }

	for name, want := range map[string]string{"Well": "Well", "Harbour": "Harbour (3)", "Inn": "Inn (3)", "Harbour (2)": "Harbour (2)"} {
		if got := newName(name, isHere, isComing); got != want {
			t.Errorf("new %q: %q, not %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"Well": "Well__phone", "Harbour": "Harbour__phone (2)"} {
		if got := branchName(name, "phone", 200, isHere, isComing); got != want {
			t.Errorf("branch %q: %q, not %q", name, got, want)
		}
	}
}
