package userdir

import (
	"os"
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
		{"/user/images/M/a.png", []string{"user/images/M/a.png"}, true},
		{"user/files/b%20c.txt?x=1#y", []string{"user/files/b c.txt", "user/files/b%20c.txt"}, true},
		{"/user/images/50%2525.png", []string{"user/images/50%.png", "user/images/50%25.png", "user/images/50%2525.png"}, true},
		{"/user/images/100%.png", []string{"user/images/100%.png"}, true},
		{"/User%20Avatars/a.png", []string{"User Avatars/a.png", "User%20Avatars/a.png"}, true},
		{"/backgrounds/sea.jpg", []string{"backgrounds/sea.jpg"}, true},
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

func TestAddress(t *testing.T) {
	root := t.TempDir()
	dir := Dir{Root: root}
	names := []string{"user/images/M x/a.png", "user/files/100%25.txt", "user/files/100%.txt", "backgrounds/a #1.png", "chats/M/a.jsonl", "users/a.png"}
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"user/images/M x/a.png":  "/user/images/M x/a.png",
		"user/files/100%25.txt":  "/user/files/100%252525.txt",
		"user/files/100%.txt":    "/user/files/100%2525.txt",
		"backgrounds/a #1.png":   "/backgrounds/a %231.png",
		"chats/M/a.jsonl":        "",
		"users/a.png":            "",
		"user/files/missing.txt": "",
		"../elsewhere.png":       "",
	} {
		address, ok := dir.Address(filepath.Join(root, filepath.FromSlash(name)))
		if ok != (want != "") || ok && address != want {
			t.Errorf("%s: %q, %t; want %q", name, address, ok, want)
		}
	}
	for name, want := range map[string]bool{"user": true, "user/images/M x": true, "backgrounds": true, "chats": false, ".": false, "users": false} {
		if got := dir.ServesFolder(filepath.Join(root, filepath.FromSlash(name))); got != want {
			t.Errorf("the folder %s is served: %t", name, got)
		}
	}
}
