package main

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

// TestInspectStaysSmall holds that memory does not follow the chat's size.
func TestInspectStaysSmall(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("writes 75 MB, and the race detector needs memory of its own")
	}
	text := strings.Repeat("the lamp turns over the salt and the slow water ", 30)
	path := chatOf(t, 50_000, func(w *bufio.Writer, i int) {
		fmt.Fprintf(w, `{"name":"Mira","is_user":%t,"send_date":"2026-01-02T03:04:05.000Z","mes":"%d %s","extra":{"model":"m%d"}}`, i%2 == 0, i, text, i%9)
	})
	stchat := program(t)
	for _, test := range []struct {
		most int64
		args []string
	}{
		{plainPeak, []string{"inspect", path}},
		{plainPeak, []string{"inspect", path, "--json"}},
		// every message is made into text here, and what is done with is not freed at once
		{plainPeak + 16<<20, []string{"inspect", path, "--messages", "-q"}},
		{plainPeak + 16<<20, []string{"inspect", path, "--messages", "--json", "-q"}},
	} {
		if got := least(test.most, func() int64 { return programPeak(t, stchat, test.args...) }); got > test.most {
			t.Errorf("%q: %d MB of memory, not %d MB at most", test.args[2:], got>>20, test.most>>20)
		}
	}
}
