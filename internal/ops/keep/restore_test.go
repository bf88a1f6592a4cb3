package keep

import (
	"errors"
	"testing"

	"stchat/internal/ops/cut"
)

// TestWhereTo decides where a version goes, for each way in which it and the file can stand to each other.
func TestWhereTo(t *testing.T) {
	last := 7
	there := standing{}
	gone := standing{gone: true}
	foreign := standing{foreign: true}
	goneAndForeign := standing{gone: true, foreign: true}
	for _, test := range []struct {
		name   string
		stands standing
		opt    RestoreOptions
		want   target
		err    error
	}{
		{"a version of a chat", there, RestoreOptions{}, asBranch, nil},
		{"under a name", there, RestoreOptions{Name: "n"}, asBranch, nil},
		{"up to a message", there, RestoreOptions{At: &last}, asBranch, nil},
		{"in its place", there, RestoreOptions{InPlace: true}, overIt, nil},
		{"its bytes to a file", there, RestoreOptions{Output: "f"}, toFile, nil},
		{"its bytes to the output", there, RestoreOptions{Output: cut.Stdout}, toStdout, nil},
		{"up to a message, to a file", there, RestoreOptions{Output: "f", At: &last}, asBranch, nil},
		{"up to a message, to the output", there, RestoreOptions{Output: cut.Stdout, At: &last}, asBranch, nil},

		{"gone", gone, RestoreOptions{}, toItsPlace, nil},
		{"gone, under a name", gone, RestoreOptions{Name: "n"}, 0, ErrGone},
		{"gone, up to a message", gone, RestoreOptions{At: &last}, 0, ErrGone},
		{"gone, in its place", gone, RestoreOptions{InPlace: true}, 0, ErrGone},
		{"gone, to a file", gone, RestoreOptions{Output: "f"}, toFile, nil},
		{"gone, up to a message, to a file", gone, RestoreOptions{Output: "f", At: &last}, asBranch, nil},

		{"of another chat", foreign, RestoreOptions{}, besideIt, nil},
		{"of another chat, under a name", foreign, RestoreOptions{Name: "n"}, besideIt, nil},
		{"of another chat, in its place", foreign, RestoreOptions{InPlace: true}, 0, ErrGone},
		{"of another chat, up to a message", foreign, RestoreOptions{At: &last}, 0, ErrGone},
		{"of another chat that is gone, under a name", goneAndForeign, RestoreOptions{Name: "n"}, besideIt, nil},

		{"of no chat", standing{noChat: true}, RestoreOptions{}, 0, ErrNoChat},
		{"of no chat, in its place", standing{noChat: true}, RestoreOptions{InPlace: true}, overIt, nil},
		{"of no chat, gone", standing{noChat: true, gone: true}, RestoreOptions{}, toItsPlace, nil},
		{"of no chat, gone, under a name", standing{noChat: true, gone: true}, RestoreOptions{Name: "n"}, 0, ErrGoneFile},
		{"where SillyTavern does not look", standing{stray: true}, RestoreOptions{}, 0, ErrStray},
		{"where SillyTavern does not look, in its place", standing{stray: true}, RestoreOptions{InPlace: true}, overIt, nil},
		{"where SillyTavern does not look, to a file", standing{stray: true}, RestoreOptions{Output: "f", At: &last}, asBranch, nil},

		{"changed in the store", standing{damaged: true}, RestoreOptions{}, 0, ErrChangedRow},
		{"changed in the store, and gone", standing{damaged: true, gone: true}, RestoreOptions{}, 0, ErrChangedRow},
		{"changed in the store, to a file", standing{damaged: true}, RestoreOptions{Output: "f"}, toFile, nil},
	} {
		got, err := whereTo(test.stands, &test.opt)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %d, %v; want %d, %v", test.name, got, err, test.want, test.err)
		}
	}
}
