package changeset

import (
	"regexp"
	"testing"
)

func FuzzNames(f *testing.F) {
	for _, name := range []string{
		"20261121T010203-0123abcd", "20261121T010203-0123abcd.2", "20261121T010203-0123abcd-7", "20261121T010203-0123abcd.2-7",
		"20261121T010203-0123abcd.123456789-123456789", "20261121T010203-0123abcd.1234567890-1", "20261121T010203-0123abcd-1234567890",
		"", "-", "-1", ".1", "20261121T010203", "20261121T010203-0123ABCD", "2026112T010203-0123abcd", "20261121t010203-0123abcd",
		"20261121T010203-0123abcd.", "20261121T010203-0123abcd-", "20261121T010203-0123abcd.1.2", "20261121T010203-0123abcd-1-2",
		"20261121T010203-0123abcd\n", "20261121T010203-0123abcd-١", "20261121TT10203-0123abcd",
	} {
		f.Add(name)
	}
	stem := regexp.MustCompile(`^(\d{8}T\d{6}-[0-9a-f]{8})(?:\.(\d{1,9}))?$`)
	kept := regexp.MustCompile(`^\d{8}T\d{6}-[0-9a-f]{8}(?:\.\d{1,9})?-\d{1,9}$`)
	f.Fuzz(func(t *testing.T, name string) {
		if got, want := isStem(name), stem.MatchString(name); got != want {
			t.Errorf("isStem(%q) = %v, want %v", name, got, want)
		}
		if got, want := isKept(name), kept.MatchString(name); got != want {
			t.Errorf("isKept(%q) = %v, want %v", name, got, want)
		}
	})
}
