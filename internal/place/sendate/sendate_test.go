package sendate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/place/sendate"
)

func TestParse(t *testing.T) {
	utc := func(y, mo, d, h, mi, s, ms int) time.Time {
		return time.Date(y, time.Month(mo), d, h, mi, s, ms*1e6, time.UTC)
	}
	local := func(y, mo, d, h, mi, s int) time.Time {
		return time.Date(y, time.Month(mo), d, h, mi, s, 0, time.Local)
	}
	tests := []struct {
		in   string
		want time.Time
	}{
		{"2026-01-02T03:04:05.000Z", utc(2026, 1, 2, 3, 4, 5, 0)},
		{"2026-01-02T03:04:05.678Z", utc(2026, 1, 2, 3, 4, 5, 678)},
		{"2026-01-02T03:04:05Z", utc(2026, 1, 2, 3, 4, 5, 0)},
		{"2026-01-02T03:04Z", utc(2026, 1, 2, 3, 4, 0, 0)},
		{"2026-01-02T03:04:05.000+02:00", utc(2026, 1, 2, 1, 4, 5, 0)},
		{"2026-01-02T03:04:05-0330", utc(2026, 1, 2, 6, 34, 5, 0)},
		{"2026-01-02 03:04:05 +01", utc(2026, 1, 2, 2, 4, 5, 0)},
		{"2026-01-02T03:04:05.123456789123Z", time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC)},
		{"2026-01-02T03:04:05,5Z", utc(2026, 1, 2, 3, 4, 5, 500)},
		{"2026-01-02T03:04:05", local(2026, 1, 2, 3, 4, 5)},
		{"2026-01-02 03:04:05", local(2026, 1, 2, 3, 4, 5)},
		{"2026-01-02", local(2026, 1, 2, 0, 0, 0)},
		{"2024-02-29T00:00:00Z", utc(2024, 2, 29, 0, 0, 0, 0)},
		{" 2026-01-02T03:04:05Z\n", utc(2026, 1, 2, 3, 4, 5, 0)},

		{"June 19, 2023 2:20pm", local(2023, 6, 19, 14, 20, 0)},
		{"June 19, 2023 2:20am", local(2023, 6, 19, 2, 20, 0)},
		{"January 5, 2024 11:09 AM", local(2024, 1, 5, 11, 9, 0)},
		{"January 5, 2024 12:09am", local(2024, 1, 5, 0, 9, 0)},
		{"January 5, 2024 12:09PM", local(2024, 1, 5, 12, 9, 0)},
		{"january 05, 2024 02:09:33 pm", local(2024, 1, 5, 14, 9, 33)},
		{"Sep 5, 2024, 2:09\u202fPM", local(2024, 9, 5, 14, 9, 0)},
		{"May 5, 2024 2:09pm", local(2024, 5, 5, 14, 9, 0)},

		{"2023-5-12 @21h 32m 29s 224ms", utc(2023, 5, 12, 21, 32, 29, 224)},
		{"2023-05-12 @01h 02m 03s 4ms", utc(2023, 5, 12, 1, 2, 3, 4)},
		{"2024-1-5@3h04m05s", utc(2024, 1, 5, 3, 4, 5, 0)},
		{"2024-7-12@01h31m37s", utc(2024, 7, 12, 1, 31, 37, 0)},
		{"2024-01-05@03h04m05s", utc(2024, 1, 5, 3, 4, 5, 0)},
		{"2024-01-05@03h04m05s006ms", utc(2024, 1, 5, 3, 4, 5, 6)},

		{"1687184400000", time.UnixMilli(1687184400000)},
		{"1687184400", time.Unix(1687184400, 0)},
	}
	for _, tt := range tests {
		got, ok := sendate.Parse(tt.in)
		if !ok {
			t.Errorf("Parse(%q) is not ok", tt.in)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tt.in, diff)
		}
		quoted, err := json.Marshal(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if raw, ok := sendate.ParseRaw(quoted); !ok || !raw.Equal(got) {
			t.Errorf("ParseRaw(%s) = %v, %v", quoted, raw, ok)
		}
	}
}

func TestParseKeepsTheZone(t *testing.T) {
	for in, want := range map[string]string{
		"2026-01-02T03:04:05.5+02:00":  "2026-01-02T03:04:05.5+02:00",
		"2026-01-02T03:04:05.000Z":     "2026-01-02T03:04:05Z",
		"2024-01-05@03h04m05s006ms":    "2024-01-05T03:04:05.006Z",
		"1687184400000":                "2023-06-19T14:20:00Z",
		"2023-5-12 @21h 32m 29s 224ms": "2023-05-12T21:32:29.224Z",
	} {
		got, ok := sendate.Parse(in)
		if text := got.Format(time.RFC3339Nano); !ok || text != want {
			t.Errorf("Parse(%q) = %s, %v; want %s", in, text, ok, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "yesterday", "null", "2026", "20260102", "12345", "-1687184400000", "1687184400000.5",
		"99999999999999999999", strings.Repeat("9", 79), strings.Repeat("1", 1_000_000),
		// days and hours that do not exist
		"2023-02-31T00:00:00Z", "2023-02-29", "2023-13-01", "2023-00-01", "2023-01-00", "2026-01-02T24:00:00Z",
		"2026-01-02T03:60:00Z", "2026-01-02T03:04:60Z", "February 31, 2024 2:20pm", "June 19, 2023 13:20pm",
		"June 19, 2023 0:20pm", "June 19, 2023 2:60pm", "2023-2-31@1h2m3s", "2023-2-3@24h2m3s", "2023-2-3@1h60m3s",
		"2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+02:60", "9999-12-31T23:59:59-01:00", "0000-01-01",
		// nearly
		"2026-1-2T03:04:05Z", "2026-01-02T", "2026-01-02T03", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05Zx",
		"2026-01-02T03:04:05+", "2026-01-02T03:04:05+1", "2026-01-02T03:04:05+123", "2026-01-02T03:04:05+01:",
		"Juno 19, 2023 2:20pm", "19, 2023 2:20pm", "June 19 2023 2:20pm", "June 19, 2023 2:20", "June 19, 2023 2:20 xm",
		"June 19, 2023", "2023-5-12 @21h 32m", "2023-5-12@21h32m29s1234ms", "2023-5-12@21h32m29s12", "2023-5-12@21h32m29sms",
		"2023-5-12@21h32m29s224ms tail", "223-5-12@21h32m29s", "\xff",
	} {
		if got, ok := sendate.Parse(in); ok {
			t.Errorf("Parse(%.40q) = %v", in, got)
		}
	}
}

func TestParseRaw(t *testing.T) {
	for raw, want := range map[string]time.Time{
		"1687184400000":                   time.UnixMilli(1687184400000),
		" 1687184400000 ":                 time.UnixMilli(1687184400000),
		"1.6871844e12":                    time.UnixMilli(1687184400000),
		"1795201353717.5256":              time.UnixMicro(1795201353717525),
		"1687184400":                      time.Unix(1687184400, 0),
		`"1687184400000"`:                 time.UnixMilli(1687184400000),
		`"2026-11-22T13:14:15.987Z"`:      time.Date(2026, 11, 22, 13, 14, 15, 987e6, time.UTC),
		`"2026-01-02T03:04:05.000\u005a"`: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	} {
		if got, ok := sendate.ParseRaw([]byte(raw)); !ok || !got.Equal(want) {
			t.Errorf("ParseRaw(%s) = %v, %v; want %v", raw, got, ok, want)
		}
	}
	for _, raw := range []string{
		"", "null", "true", "[1687184400000]", "{}", "0", "-1", "1e999", "12345", `"`, `"\ud800"`,
		`"2026-02-30T03:04:05.000Z"`, `"2026-01-02T24:04:05.000Z"`, `"0000-01-02T03:04:05.000Z"`, `"2026-01-02T03:04:05.00:Z"`, `"2026-01-02T03:04:0/.000Z"`,
	} {
		if got, ok := sendate.ParseRaw([]byte(raw)); ok {
			t.Errorf("ParseRaw(%s) = %v", raw, got)
		}
	}
}

func TestParseRawUsual(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		s := fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", r.IntN(4000), r.IntN(14), r.IntN(33), r.IntN(26), r.IntN(62), r.IntN(62), r.IntN(1000))
		want, err := time.Parse("2006-01-02T15:04:05.000Z", s)
		if got, ok := sendate.ParseRaw([]byte(`"` + s + `"`)); ok != (err == nil && want.Year() > 0) || ok && got != want {
			t.Fatalf("%s: %v, %v; want %v, %v", s, got, ok, want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"2026-01-02T03:04:05.000Z", "2026-01-02 03:04+0130", "2026-01-02", "June 19, 2023 2:20pm", "2023-5-12 @21h 32m 29s 224ms",
		"2024-01-05@03h04m05s006ms", "1687184400000", "1687184400", "0001-01-01T00:00:00+23:59",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := sendate.Parse(s)
		raw, rawOK := sendate.ParseRaw([]byte(s))
		if rawOK && ok && !raw.Equal(got) {
			t.Fatalf("%q is %v as text and %v as JSON", s, got, raw)
		}
		if !ok {
			if !got.IsZero() {
				t.Fatalf("Parse(%q) = %v, and not ok", s, got)
			}
			return
		}
		text := got.UTC().Format(time.RFC3339Nano)
		if again, ok := sendate.Parse(text); !ok || !again.Equal(got) {
			t.Fatalf("Parse(%q) = %v, but of that %v, %v", s, got, again, ok)
		}
	})
}
