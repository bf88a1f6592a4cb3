package cut

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

func TestDecideName(t *testing.T) {
	taken := fmt.Errorf("%q: %w", "a", names.ErrTaken)
	unfit := errors.New("no file can have this name")
	for _, tc := range []struct {
		name string
		opt  Options
		o    offer
		want nameUse
		err  error
	}{
		{"a free name", Options{}, offer{}, useFree, nil},
		{"a free name, by force", Options{Force: true, IfMissing: true}, offer{}, useFree, nil},
		{"no name at all", Options{}, offer{unfit: unfit}, useFree, unfit},
		{"no name at all, by force", Options{Force: true}, offer{unfit: unfit, there: true}, useFree, unfit},
		{"taken", Options{}, offer{unfit: taken, there: true}, useFree, names.ErrTaken},
		{"taken, and enough", Options{IfMissing: true}, offer{unfit: taken}, keepOld, nil},
		{"taken, by force", Options{Force: true}, offer{unfit: taken, there: true}, replaceOld, nil},
		{"in another letter case, by force", Options{Force: true}, offer{unfit: taken}, useFree, names.ErrTaken},
		{"given twice", Options{}, offer{unfit: taken, given: true}, useFree, ErrGivenTwice},
		{"given twice, by force", Options{Force: true}, offer{unfit: taken, given: true, there: true}, useFree, ErrGivenTwice},
		{"given twice, and enough", Options{IfMissing: true}, offer{unfit: taken, given: true}, useFree, ErrGivenTwice},
	} {
		got, err := decideName(&tc.opt, tc.o)
		if got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %d, %v; want %d, %v", tc.name, got, err, tc.want, tc.err)
		}
	}
}

func TestDecide(t *testing.T) {
	header := meta.New()
	sidecar := luker.Sidecar{Path: "c.luker-x.json", Kind: luker.ChatSync}
	old := group.File{Path: "groups/2.json", Name: "Old"}
	locked := &fs.PathError{Op: "open", Path: "locked", Err: fs.ErrPermission}
	// a chat of a character, whose header is whole
	solo := func(edit func(*chat.Chat)) *chat.Chat {
		src := &chat.Chat{Path: "c.jsonl", Kind: userdir.Solo, HeaderKind: chat.Modern, Header: header, Body: 10, Source: jsonl.Source{Size: 20}}
		if edit != nil {
			edit(src)
		}
		return src
	}
	noHeader := func(src *chat.Chat) { src.HeaderKind, src.Header = chat.None, nil }
	inGroups := func(list ...*group.File) func(*chat.Chat) {
		return func(src *chat.Chat) { src.Kind, src.Groups = userdir.Group, list }
	}

	type want struct {
		err      error
		text     string   // a part of the error
		warns    []string // a part of each warning
		facts    int
		sidecars int // that go along
		group    bool
	}
	for _, tc := range []struct {
		name      string
		opt       Options
		src       *chat.Chat
		elsewhere bool
		around    around
		want      want
	}{
		{name: "nothing special", src: solo(nil)},
		{name: "no header", src: solo(noHeader), want: want{warns: []string{"the chat has no header"}}},
		{name: "nothing in it", src: solo(func(src *chat.Chat) { noHeader(src); src.Body = 20 })},
		{
			name: "first line damaged", src: solo(func(src *chat.Chat) { src.HeaderKind, src.Header = chat.Damaged, nil }),
			want: want{warns: []string{"the first line is damaged"}},
		},
		{
			name: "metadata damaged", src: solo(func(src *chat.Chat) { src.HeaderKind = chat.Damaged }),
			want: want{warns: []string{"chat_metadata is not an object"}},
		},

		{name: "in a group", src: solo(inGroups(&old)), want: want{group: true}},
		{
			name: "in two groups", src: solo(inGroups(&old, &old)),
			want: want{group: true, warns: []string{"2 groups list this chat; the new one goes to groups/2.json"}},
		},
		{name: "in no group", src: solo(inGroups()), want: want{warns: []string{"no group lists this chat"}}},
		{
			name: "in no group that can be read", src: solo(inGroups()), around: around{unreadGroup: locked},
			want: want{warns: []string{"unless it is this one, which cannot be read"}},
		},
		{
			name: "its metadata may be in a group", src: solo(func(src *chat.Chat) { inGroups()(src); noHeader(src) }), around: around{unreadGroup: locked},
			want: want{err: ErrMetadataElsewhere},
		},
		{
			name: "its metadata may be lost", opt: Options{SkipDamaged: true}, src: solo(func(src *chat.Chat) { inGroups()(src); noHeader(src) }), around: around{unreadGroup: locked},
			want: want{warns: []string{"unless it is this one"}},
		},
		{name: "the group is locked", src: solo(inGroups(&old)), around: around{lockedGroup: locked}, want: want{err: ErrGroupFile}},
		{
			name: "away from the group", src: solo(inGroups(&old)), elsewhere: true, around: around{lockedGroup: locked},
			want: want{warns: []string{"so no group lists it"}},
		},

		{name: "Luker", src: solo(nil), around: around{sidecars: []luker.Sidecar{sidecar}}, want: want{sidecars: 1}},
		{
			name: "away from Luker", src: solo(nil), elsewhere: true, around: around{sidecars: []luker.Sidecar{sidecar}},
			want: want{facts: 1, warns: []string{"Luker's state (1 sidecar) does not go with it"}},
		},
		{
			name: "Luker had a chat of the name", src: solo(nil), around: around{stray: []luker.Sidecar{sidecar}},
			want: want{text: "there is Luker state of a chat of this name already"},
		},
		{name: "unlisted", src: solo(nil), around: around{unlisted: locked}, want: want{err: fs.ErrPermission}},
		{name: "unlisted, and elsewhere", src: solo(nil), elsewhere: true, around: around{unlisted: locked}},

		{name: "a link", opt: Options{Link: true}, src: solo(nil)},
		{name: "no link is asked for", src: solo(nil), around: around{apart: true, locked: locked}},
		{name: "a link elsewhere", opt: Options{Link: true}, src: solo(nil), elsewhere: true, want: want{err: ErrLinkElsewhere}},
		{name: "a link beside a symlink", opt: Options{Link: true}, src: solo(nil), around: around{apart: true}, want: want{err: ErrLinkElsewhere}},
		{name: "a link, the source is locked", opt: Options{Link: true}, src: solo(nil), around: around{locked: locked}, want: want{err: ErrLink}},
		{
			name: "a slug without a header", opt: Options{Link: true, BumpIntegrity: true}, src: solo(noHeader),
			want: want{err: ErrNoSlug, warns: []string{"no header"}},
		},
		{
			name: "a slug in a damaged header", opt: Options{Link: true, BumpIntegrity: true}, src: solo(func(src *chat.Chat) { src.HeaderKind = chat.Damaged }),
			want: want{err: ErrLink, warns: []string{"not an object"}},
		},
		{
			name: "Luker's slug in a damaged header", opt: Options{Link: true}, src: solo(func(src *chat.Chat) { src.HeaderKind = chat.Damaged }),
			around: around{sidecars: []luker.Sidecar{sidecar}},
			want:   want{err: ErrLink, sidecars: 1, warns: []string{"not an object"}},
		},
	} {
		p := &plan{chatPath: chatPath{path: "new.jsonl", beside: !tc.elsewhere}}
		r := new(Result)
		err := decide(&tc.opt, tc.src, p, &tc.around, r)
		switch {
		case tc.want.text != "":
			if err == nil || !strings.Contains(err.Error(), tc.want.text) {
				t.Errorf("%s: %v; want %s", tc.name, err, tc.want.text)
			}
		case !errors.Is(err, tc.want.err):
			t.Errorf("%s: %v; want %v", tc.name, err, tc.want.err)
		}
		got := want{err: tc.want.err, text: tc.want.text, facts: len(r.Facts), sidecars: len(p.sidecars), group: r.Doc.Group != nil}
		for k, warning := range r.Warnings {
			if k < len(tc.want.warns) && strings.Contains(warning, tc.want.warns[k]) {
				warning = tc.want.warns[k]
			}
			got.warns = append(got.warns, warning)
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
		if tc.want.facts != len(r.Doc.Sidecars) || len(r.Doc.Sidecars) > 0 && r.Doc.Sidecars[0] != (ops.Sidecar{Path: sidecar.Path, Action: SidecarLeft}) {
			t.Errorf("%s: listed %v", tc.name, r.Doc.Sidecars)
		}
	}
}
