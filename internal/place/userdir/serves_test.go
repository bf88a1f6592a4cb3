package userdir

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServed(t *testing.T) {
	tests := []struct {
		address string
		want    []string
		ours    bool
	}{
		{"/user/images/M/a.png", []string{"user/images/M/a.png", "user/images/M/a.png"}, true},
		{"user/files/b%20c.txt?x=1#y", []string{"user/files/b c.txt", "user/files/b%20c.txt"}, true},
		{"/user/images/100%.png", []string{"user/images/100%.png"}, true},
		{"/User%20Avatars/a.png", []string{"User Avatars/a.png", "User%20Avatars/a.png"}, true},
		{"/backgrounds/sea.jpg", []string{"backgrounds/sea.jpg", "backgrounds/sea.jpg"}, true},
		{"/user/../../../etc/passwd", nil, true},
		{"/user/%2e%2e/%2e%2e/secret", []string{"user/%2e%2e/%2e%2e/secret"}, true},
		{"https://example.org/user/images/a.png", nil, false},
		{"/img/ai4.png", nil, false},
		{"", nil, false},
	}
	for _, tt := range tests {
		got, ours := served(tt.address)
		if ours != tt.ours || !cmp.Equal(tt.want, got) {
			t.Errorf("%q: %q, %v; want %q, %v", tt.address, got, ours, tt.want, tt.ours)
		}
		for _, path := range got {
			if !filepath.IsLocal(filepath.FromSlash(path)) {
				t.Errorf("%q leads out: %q", tt.address, path)
			}
		}
	}
}
