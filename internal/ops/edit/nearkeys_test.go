package edit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/json/patch"
)

func TestNearKeys(t *testing.T) {
	edit := func(path ...string) patch.Edit { return patch.Edit{Path: path, Value: []byte("1")} }
	for _, tt := range []struct {
		name string
		near func([]patch.Edit) []nearKey
		edit patch.Edit
		want string // the known key; "": none is near
	}{
		{"known", nearMessageKeys, edit("mes"), ""},
		{"upper case", nearMessageKeys, edit("Mes"), "mes"},
		{"two letters", nearMessageKeys, edit("send_dat"), "send_date"},
		{"two letters swapped", nearMessageKeys, edit("swiep_info"), "swipe_info"},
		{"three letters", nearMessageKeys, edit("send_data_x"), ""},
		{"another word", nearMessageKeys, edit("variables"), ""},
		{"in extra", nearMessageKeys, edit("extra", "Bookmark_link"), "bookmark_link"},
		{"of a message, in extra", nearMessageKeys, edit("extra", "swipe_id2"), ""},
		{"deeper", nearMessageKeys, edit("extra", "media", "model2"), ""},
		{"elsewhere", nearMessageKeys, edit("own", "mes2"), ""},
		{"removed", nearMessageKeys, patch.Edit{Path: patch.Path{"Mes"}}, ""},
		{"of an extension", nearMetadataKeys, edit("auto_lorebook"), "auto_lorebooks"},
		{"of an extension, known", nearMetadataKeys, edit("auto_lorebooks"), ""},
		{"of a message, in the metadata", nearMetadataKeys, edit("Mes"), ""},
		{"the whole", nearMetadataKeys, edit(), ""},
	} {
		var want []nearKey
		if tt.want != "" {
			want = []nearKey{{path: tt.edit.Path, known: tt.want}}
		}
		if diff := cmp.Diff(want, tt.near([]patch.Edit{tt.edit}), cmp.AllowUnexported(nearKey{})); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
