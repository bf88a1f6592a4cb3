package rules

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzSwipeIs compares the quick look at the first and last swipe with decoding
// them all.
func FuzzSwipeIs(f *testing.F) {
	f.Add("a", "b", "c", 1, uint8(0))
	f.Add(`a","b`, `b`, `","`, 2, uint8(1))
	f.Add(`\`, `"`, `\"`, 0, uint8(2))
	f.Add("é", "e\u0301", "\x00", 1, uint8(3))
	f.Fuzz(func(t *testing.T, a, b, c string, id int, form uint8) {
		list, mes := []string{a, b, c}, []string{a, b, c, a + b, "x"}[int(form)%5]
		if id < 0 || id > 2 {
			return
		}
		swipes, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(mes)
		if err != nil {
			t.Fatal(err)
		}
		if form >= 128 {
			swipes = bytes.ReplaceAll(swipes, []byte(`","`), []byte(`" , "`))
		}
		var text []string
		var message string
		if json.Unmarshal(swipes, &text) != nil || len(text) != 3 || json.Unmarshal(raw, &message) != nil {
			return // the spaces went into a text
		}
		if got, want := swipeIs(swipes, 3, id, raw), text[id] == message; got != want {
			t.Errorf("swipeIs(%s, %d, %s) = %v", swipes, id, raw, got)
		}
	})
}

func TestRuleTable(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range All() {
		r := id.Rule()
		if r.ID == "" || r.Family == "" || r.Severity == 0 || r.Summary == "" || r.Effect == "" || r.Repair == "" || seen[r.ID] {
			t.Errorf("rule %d: %+v", id, *r)
		}
		seen[r.ID] = true
		for _, text := range []string{r.Summary, r.Effect, r.Repair} {
			if strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
				t.Errorf("%s: %q is not a phrase", r.ID, text)
			}
		}
		if got, err := Find(r.ID); err != nil || got != id {
			t.Errorf("Find(%s) = %v, %v", r.ID, got, err)
		}
	}
	if _, err := Find(""); err == nil {
		t.Error("a rule without a name")
	}
	if len(seen) > 2*setHalf {
		t.Errorf("a Set holds %d rules", 2*setHalf)
	}
}

// A rule of the one half of a set is not taken for one of the other.
func TestSet(t *testing.T) {
	const low, high = ID(3), ID(3 + setHalf)
	for _, id := range []ID{low, high} {
		one, other := SetOf(id), SetOf(low+high-id)
		both := one.With(other)
		if !one.Has(id) || one.Has(low+high-id) || both != SetOf(low, high) || both.Without(one) != other || both.And(one) != one {
			t.Errorf("the set of rule %d is %+v, with the other %+v", id, one, both)
		}
		if one.IsEmpty() || one.HasAny(other) || !one.HasAny(both) || !one.And(other).IsEmpty() {
			t.Errorf("%+v and %+v have rules in common", one, other)
		}
	}
}

func TestOrderMessage(t *testing.T) {
	const minute = 60 * 1000
	for ms, want := range map[int64]string{
		minute - 1:       "dated before the message in front of it",
		minute:           "dated 1 minute before the message in front of it",
		2 * minute:       "dated 2 minutes before the message in front of it",
		120 * minute:     "dated 2 hours before the message in front of it",
		48*60*minute - 1: "dated 47 hours before the message in front of it",
		48 * 60 * minute: "dated 2 days before the message in front of it",
	} {
		if got := orderMessage(date{}, date{ms: ms}); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
}

func TestDateOrder(t *testing.T) {
	at := func(s string, local bool) date {
		ms, err := time.Parse("2006-01-02 15:04:05", s)
		if err != nil {
			t.Fatal(err)
		}
		return date{ms: ms.UnixMilli(), local: local, known: true}
	}
	tests := []struct {
		d, front date
		want     bool
	}{
		{at("2026-01-02 10:00:00", false), at("2026-01-02 10:00:01", false), true},
		{at("2026-01-02 10:00:00", false), at("2026-01-02 10:00:00", false), false},
		{at("2026-01-02 10:00:00", true), at("2026-01-02 10:00:40", true), false},
		{at("2026-01-02 09:59:00", true), at("2026-01-02 10:00:40", true), true},
		{at("2026-01-02 10:00:00", false), at("2026-01-03 10:00:00", true), false},
		{at("2026-01-01 10:00:00", true), at("2026-01-03 10:00:00", false), true},
	}
	for _, tt := range tests {
		if got := before(tt.d, tt.front); got != tt.want {
			t.Errorf("before(%+v, %+v) = %v", tt.d, tt.front, got)
		}
	}
}

// What there is very much of must not hide what there is little of, nor what a
// person must put right what repair can.
func TestManyFindings(t *testing.T) {
	chat := `{"chat_metadata":{"integrity":"x"}}` + strings.Repeat("\n"+`{"mes":1}`, 40*perRule) +
		strings.Repeat("\n"+`{"name":"a","is_user":true,"mes":"x","swipes":[],"swipe_info":[{}]}`, 2*perRule) + "\n" +
		`{"name":"a","is_user":true,"mes":"x","swipe_id":5,"swipes":["x"],"swipe_info":[]}`
	path := filepath.Join(t.TempDir(), "many.jsonl")
	if err := os.WriteFile(path, []byte(chat), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := New(time.Now()).Scan(t.Context(), path, ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[ID]int{}
	for _, f := range c.Findings() {
		counts[f.Rule] += f.Count()
	}
	want := map[ID]int{MessageShape: 3 * 40 * perRule, SwipeInfo: 2*perRule + 1, SwipeID: 1}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if got, want := c.Repairable(), SetOf(SwipeID, SwipeInfo); got != want {
		t.Errorf("mendable: %+v; want %+v", got, want)
	}
}

func TestPendingAge(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		stamp string
		old   bool
	}{
		{"0", true}, {"-1e300", true}, {"1777550399999", true}, {"1777550400000", false}, {"1e18", false}, {"1e300", false}, {"1e999", true}, {`"0"`, true},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		text := `{"chat_metadata":{"integrity":"x","autoLorebooks":{"pendingOps":{"op":{"timestamp":` + tt.stamp + `}}}}}`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := New(now).Scan(t.Context(), path, ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		old := false
		for _, f := range c.Findings() {
			old = old || f.Rule == PendingOld
		}
		if old != tt.old {
			t.Errorf("timestamp %s: old is %v", tt.stamp, old)
		}
	}
}

func TestSwipeIs(t *testing.T) {
	for _, c := range []struct {
		swipes, mes string
		id, n       int
		want        bool
	}{
		{`["a\"b"]`, `"b"`, 0, 1, false}, // ends in the same bytes, but the quote is part of the swipe
		{`["x,\"b"]`, `"b"`, 0, 1, false},
		{`["[\"b"]`, `"b"`, 0, 1, false},
		{`["x","b"]`, `"b"`, 1, 2, true},
		{`["\u0061"]`, `"a"`, 0, 1, true}, // spelled differently
	} {
		if got := swipeIs([]byte(c.swipes), c.n, c.id, []byte(c.mes)); got != c.want {
			t.Errorf("swipeIs(%s, %d, %d, %s) = %v", c.swipes, c.n, c.id, c.mes, got)
		}
	}
}

// A date that has no zone is earlier only if it is by more than zones can differ.
func TestBeforeAcrossZones(t *testing.T) {
	const zones = 26 * 3600 * 1000
	front := date{ms: 10 * zones}
	for ms, want := range map[int64]bool{9 * zones: false, 9*zones - 1: true} {
		if got := before(date{ms: ms, local: true}, front); got != want {
			t.Errorf("%d before %d: %v", ms, front.ms, got)
		}
	}
}

// A chat that cannot be opened is an error, not a chat without findings.
func TestScanFails(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "gone.jsonl"), dir} {
		if _, err := New(time.Now()).Scan(t.Context(), path, ScanOptions{}); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

func TestParseSeverity(t *testing.T) {
	for _, s := range []Severity{Info, Warning, Error} {
		if got, err := ParseSeverity(s.String()); got != s || err != nil {
			t.Errorf("ParseSeverity(%s) = %v, %v", s, got, err)
		}
	}
	if _, err := ParseSeverity("none"); err == nil {
		t.Error("there is no severity none")
	}
}
