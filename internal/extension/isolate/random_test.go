package isolate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
)

// random makes chats whose metadata has everything the adapters know, in good and in
// strange shapes, among much that is none of their business.
type random struct{ *rand.Rand }

func (r random) pick(values ...string) string { return values[r.IntN(len(values))] }

// junk is a value nobody understands.
func (r random) junk(depth int) string {
	if depth > 2 {
		return r.pick("null", "true", "1.50", "-0", "1e400", `"\u00e9\ud800"`, `""`, "[]", "{}")
	}
	switch r.IntN(6) {
	case 0:
		return "[" + r.junk(depth+1) + " , " + r.junk(depth+1) + "]"
	case 1:
		return `{"a":` + r.junk(depth+1) + `,"b.*":` + r.junk(depth+1) + `,"a":` + r.junk(depth+1) + `}`
	default:
		return r.junk(3)
	}
}

// or is the value, or now and then junk in its place.
func (r random) or(value string) string {
	if r.IntN(12) == 0 {
		return r.junk(1)
	}
	return value
}

func (r random) list(max int, element func() string) string {
	elements := make([]string, r.IntN(max+1))
	for i := range elements {
		elements[i] = element()
	}
	return "[" + strings.Join(elements, r.pick(",", ", ")) + "]"
}

func (r random) index() string { return r.pick("0", "1", "2", "3", "5", "8", "13", "4.0", "1e1") }

func (r random) message() string {
	extra := []string{`"x":` + r.junk(0)}
	if r.IntN(2) == 0 {
		extra = append(extra, fmt.Sprintf(`%q:{"scene_recap_memory":%s,"scene_break":%s}`, r.pick("auto_recap", "auto_recap_memory"), r.pick(`"r"`, `""`, "null"), r.pick("true", "false")))
	}
	if r.IntN(2) == 0 {
		extra = append(extra, `"var_ops":`+r.list(4, func() string {
			return fmt.Sprintf(`{"op":%q,"key":%q,"value":%s%s}`, r.pick("setvar", "addvar", "incvar", "deletevar", "pushvar", "popvar"), r.pick("a", "b", "c", "d"),
				r.pick(`"1"`, `"x"`, `"[1]"`, `{"k":[]}`), r.pick("", `,"path":"k.0"`, `,"path":"1"`))
		}))
	}
	if r.IntN(5) == 0 {
		extra = append(extra, `"tool_invocations":[]`)
	}
	return fmt.Sprintf(`{"is_system":%s,"extra":{%s}}`, r.pick("true", "false", "0", `"yes"`), strings.Join(extra, ","))
}

func (r random) metadata() string {
	effects := func() string {
		return fmt.Sprintf(`{"Book.1":{"hash":1,"start":%s,"protected":%s},"Book.2":%s}`, r.index(), r.pick("true", "false"), r.or(`{"start":`+r.index()+`}`))
	}
	node := func() string {
		return fmt.Sprintf(`{"messageId":%s,"parentId":%s,"childIds":%s,"u":%s}`, r.index(), r.pick("null", `"n1"`, `"n2"`), r.or(r.list(3, func() string { return r.pick(`"n1"`, `"n2"`, `"n3"`) })), r.junk(1))
	}
	members := []string{
		`"integrity":"slug"`, `"main_chat":"old"`, `"note_prompt":` + r.junk(0), `"stranger":` + r.junk(0), `"a.b*":` + r.junk(0),
		`"lastInContextMessageId":` + r.or(r.index()),
		`"timedWorldInfo":` + r.or(`{"sticky":`+r.or(effects())+`,"cooldown":`+r.or(effects())+`,"k":`+r.junk(1)+`}`),
		`"auto_recap_running_scene_recaps":` + r.or(`{"chat_id":"old","current_version":`+r.or(r.index())+`,"versions":`+r.or(r.list(6, func() string {
			return r.or(`{"version":` + r.index() + `,"new_scene_index":` + r.index() + `,"content":` + r.junk(1) + `}`)
		}))+`,"u":`+r.junk(0)+`}`),
		`"autoLorebooks":` + r.or(`{"pendingOps":`+r.or(`{"entry_1":`+r.junk(0)+`}`)+`,"u":`+r.junk(0)+`}`),
		`"auto_recap":` + r.or(`{"combined_recap":`+r.or(`{"chat_id":"old","message_count":`+r.index()+`,"u":`+r.junk(0)+`}`)+`,"enabled":true}`),
		`"auto_lorebooks":` + r.or(`{"lorebookName":"Book","registry":{"index":{"1":{}}}}`),
		`"auto_recap_checkpoint_state":` + r.junk(0),
		`"auto_illustrator":` + r.or(fmt.Sprintf(`{"promptRegistry":%s,"galleryWidget":%s,"u":%s}`,
			r.or(fmt.Sprintf(`{"nodes":%s,"imageToPromptId":{"a.png":"n1","b.png":"n2","c.png":"n9"},"rootPromptIds":%s}`,
				r.or(`{"n1":`+node()+`,"n2":`+node()+`,"n3":`+r.or(node())+`}`), r.or(`["n1","n2"]`))),
			r.or(`{"expandedMessages":`+r.or(r.list(4, r.index))+`}`), r.junk(0))),
		`"STMemoryBooks":` + r.or(`{"sceneStart":`+r.or(r.index())+`,"sceneEnd":`+r.or(r.index())+`,"highestMemoryProcessed":`+r.or(r.index())+`,"u":`+r.junk(0)+`}`),
		`"variables":` + r.or(`{"a":"1","b":`+r.junk(0)+`,"script":`+r.junk(0)+`}`),
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members[r.IntN(6):], ",") + "}"
}

// rules are the places in the metadata of which some rule speaks, as RFC 6901
// pointers.
var rules = regexp.MustCompile(`^(` + strings.Join([]string{
	`/lastInContextMessageId`,
	`/timedWorldInfo/(sticky|cooldown)/[^/]+`,
	`/auto_recap_running_scene_recaps/(chat_id|current_version|versions)`,
	`/autoLorebooks/pendingOps/.*`,
	`/auto_recap/combined_recap`, `/auto_recap/combined_recap/chat_id`,
	`/auto_illustrator/promptRegistry/nodes/[^/]+`, `/auto_illustrator/promptRegistry/nodes/[^/]+/(parentId|childIds)`,
	`/auto_illustrator/promptRegistry/(imageToPromptId/[^/]+|rootPromptIds)`,
	`/auto_illustrator/galleryWidget/expandedMessages`,
	`/STMemoryBooks/(sceneStart|sceneEnd|highestMemoryProcessed)`,
	`/variables/[abcd](/.*)?`, `/variables`,
}, "|") + `)$`)

// differences lists the pointers at which two objects differ: a member that is there
// in one only, or whose bytes differ and that is no object on both sides.
func differences(at string, a, b []byte) []string {
	x, errA := rawjson.ParseObject(a)
	y, errB := rawjson.ParseObject(b)
	if errA != nil || errB != nil {
		if string(a) == string(b) {
			return nil
		}
		return []string{at}
	}
	var found []string
	for key, value := range x.All() {
		other, ok := y.Get(key)
		if !ok {
			found = append(found, at+"/"+key)
			continue
		}
		found = append(found, differences(at+"/"+key, value, other)...)
	}
	for key := range y.All() {
		if !x.Has(key) {
			found = append(found, at+"/"+key)
		}
	}
	return found
}

// Issue 4, item 5. Isolating a branch again at its own last message changes nothing
// but what follows its name, and no key outside the rules ever changes.
func TestRandomMetadata(t *testing.T) {
	r := random{rand.New(rand.NewPCG(4, 5))}
	changed := 0
	for range 700 {
		messages := make([]string, 1+r.IntN(14))
		for i := range messages {
			messages[i] = r.message()
		}
		at := r.IntN(len(messages))
		source := r.metadata()
		if !json.Valid([]byte(source)) {
			t.Fatalf("the test makes bad JSON: %s", source)
		}
		metadata := object(t, source)
		scanned(t, at, messages...).Apply(metadata, "branch")
		branch := metadata.Bytes()
		for _, pointer := range differences("", []byte(source), branch) {
			changed++
			if !rules.MatchString(pointer) {
				t.Fatalf("%s changed at message %d:\n%s\n%s\n%s", pointer, at, strings.Join(messages, "\n"), source, branch)
			}
		}
		if x, y := keyOrder(source), keyOrder(string(branch)); !slices.Equal(x, y) {
			t.Fatalf("the order of keys changed (-before +after):\n%s", cmp.Diff(x, y))
		}

		kept := messages[:at+1]
		again := object(t, string(branch))
		scanned(t, -1, kept...).Apply(again, "branch")
		if again.Edited() {
			t.Fatalf("isolated twice at message %d:\n%s\n%s\n%s\n%s", at, strings.Join(messages, "\n"), source, branch, again.Bytes())
		}
		renamed := object(t, string(branch))
		scanned(t, -1, kept...).Apply(renamed, "another")
		for _, pointer := range differences("", branch, renamed.Bytes()) {
			if !strings.HasSuffix(pointer, "/chat_id") {
				t.Fatalf("under another name %s changed", pointer)
			}
		}
	}
	if changed < 2000 {
		t.Errorf("only %d changes in all: the test tests too little", changed)
	}
}

// keyOrder lists the top-level keys that isolation may neither add nor remove.
func keyOrder(raw string) []string {
	var keys []string
	for key := range rawjson.Members([]byte(raw)) {
		if name, _ := rawjson.Unquote(key); name != "lastInContextMessageId" && name != "variables" {
			keys = append(keys, name)
		}
	}
	return keys
}
