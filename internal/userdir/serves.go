package userdir

import (
	"net/url"
	"path/filepath"
	"strings"
)

// served returns the paths in the user folder that an address may mean:
// percent-decoded, as the server reads it, and as written. ours is false if the
// server does not serve the address from there.
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
