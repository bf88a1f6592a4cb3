package main

import "testing"

// The page of the program is that of its module, as far as that says where it is kept.
func TestHome(t *testing.T) {
	for module, want := range map[string]string{"example.org/owner/stchat": "https://example.org/owner/stchat", "stchat": "", "": ""} {
		if got := homeOf(module); got != want {
			t.Errorf("the page of %q is %q, want %q", module, got, want)
		}
	}
}
