package ops

import (
	"testing"

	"stchat/internal/json/patch"
)

func TestMetaValue(t *testing.T) {
	for _, tt := range []struct {
		path       patch.Path
		text, want string
	}{
		{patch.Path{"scenario"}, `1984`, `"1984"`},
		{patch.Path{"scenario"}, `"1984"`, `"1984"`},
		{patch.Path{"scenario"}, `say "no"`, `"say \"no\""`},
		{patch.Path{"scenario"}, ``, `""`},
		{patch.Path{"note_prompt"}, `[1, 2]`, `"[1, 2]"`},
		{patch.Path{"note_depth"}, `4`, `4`},
		{patch.Path{"variables", "scenario"}, `1984`, `1984`},
		{patch.Path{"variables"}, `{"a": 1}`, `{"a":1}`},
	} {
		if got := string(MetaValue(tt.path, tt.text)); got != tt.want {
			t.Errorf("%v=%s: %s, want %s", tt.path, tt.text, got, tt.want)
		}
	}
}
