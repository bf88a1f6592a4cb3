package userdir

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Serves reports whether the file is there that an address in a chat means, such as
// "user/images/Mira/1.png". ours is false for what does not lie in the user folder:
// other sites, and pictures of the program's own. An address that leads out of the
// folder means no file.
func (d Dir) Serves(address string) (exists, ours bool) {
	places, ours := served(address)
	for _, p := range places {
		if info, err := os.Stat(filepath.Join(d.Root, filepath.FromSlash(p))); err == nil && !info.IsDir() {
			return true, true
		}
	}
	return false, ours
}

// served returns the places in the user folder that an address may mean:
// percent-decoded, as a browser asks for it, and as it stands.
func served(address string) (places []string, ours bool) {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	rest := strings.TrimPrefix(address, "/")
	ours = false
	for _, served := range [...]string{"user/", "backgrounds/", "characters/", "assets/", "User Avatars/", "User%20Avatars/"} {
		ours = ours || strings.HasPrefix(rest, served)
	}
	if !ours {
		return nil, false
	}
	if decoded, err := url.PathUnescape(rest); err == nil && filepath.IsLocal(filepath.FromSlash(decoded)) {
		places = append(places, decoded)
	}
	if filepath.IsLocal(filepath.FromSlash(rest)) {
		places = append(places, rest)
	}
	return places, true
}
