package sendate

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, zone)
	for s, want := range map[string]string{
		"2026-03-01T18:42:07.5Z":    "2026-03-01T18:42:07.5Z",
		"2026-03-01T18:42:07+05:00": "2026-03-01T18:42:07+05:00",
		"2026-03-01":                "2026-03-01T23:59:59.999999999+02:00",
		"2026-03-01 18:42":          "2026-03-01T18:42:00+02:00",
		"2026-03-01 18:42:07":       "2026-03-01T18:42:07+02:00",
		"90m":                       "2026-03-29T10:30:00+02:00",
		"2h":                        "2026-03-29T10:00:00+02:00",
		"3d":                        "2026-03-26T12:00:00+02:00",
		"2w":                        "2026-03-15T12:00:00+02:00",
		"0d":                        "2026-03-29T12:00:00+02:00",
		"now":                       "2026-03-29T12:00:00+02:00",
		"2y":                        "2024-03-29T12:00:00+02:00",
		"today":                     "2026-03-29T23:59:59.999999999+02:00",
		"Yesterday":                 "2026-03-28T23:59:59.999999999+02:00",
		"90 minutes ago":            "2026-03-29T10:30:00+02:00",
		"1 hour ago":                "2026-03-29T11:00:00+02:00",
		"3 days ago":                "2026-03-26T12:00:00+02:00",
		"3 Days  ago":               "2026-03-26T12:00:00+02:00",
		"2 weeks ago":               "2026-03-15T12:00:00+02:00",
		"1 month ago":               "2026-02-28T12:00:00+02:00",
		"2 months ago":              "2026-01-29T12:00:00+02:00",
		"13 months ago":             "2025-02-28T12:00:00+02:00",
		"2 years ago":               "2024-03-29T12:00:00+02:00",
	} {
		got, ok := ParseMoment(s, now)
		if !ok || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %v, %v; want %s", s, got.Format(time.RFC3339Nano), ok, want)
		}
	}
	for _, s := range []string{
		"", "d", "5", "-2d", "+2d", "2mo", "2Y", "nows", "1.5h", "2026-02-30", "2026-3-1", "9999999999d", "2 d",
		"tomorrow", " today", "3 days", "days ago", "3days ago", "-3 days ago", "3 moons ago", "3 days ago now", "9999999 years ago",
	} {
		if got, ok := ParseMoment(s, now); ok {
			t.Errorf("%q is %v; want none", s, got)
		}
	}
}

// A date means its end, or where one asks for the start its start; what has a time means that time.
func TestParseStart(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, zone)
	for s, want := range map[string]string{
		"2026-02-14":       "2026-02-14T00:00:00+02:00",
		"today":            "2026-03-01T00:00:00+02:00",
		"yesterday":        "2026-02-28T00:00:00+02:00",
		"2026-02-14 18:42": "2026-02-14T18:42:00+02:00",
		"3d":               "2026-02-26T12:00:00+02:00",
		"3 days ago":       "2026-02-26T12:00:00+02:00",
	} {
		got, ok := ParseStart(s, now)
		if !ok || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %v, %v; want %s", s, got.Format(time.RFC3339Nano), ok, want)
		}
	}
	if got, ok := ParseStart("tomorrow", now); ok {
		t.Errorf("tomorrow is %v; want none", got)
	}
}
