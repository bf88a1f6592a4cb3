package main

import (
	"strconv"
	"strings"
)

// undoVariable is the environment variable that limits how much is kept for undo.
const undoVariable = "STCHAT_UNDO_MAX"

// parseSize reads a number of bytes, which may end in K, M, G or T for powers of 1024, and
// reports whether text is one.
func parseSize(text string) (int64, bool) {
	digits, shift := strings.ToUpper(text), 0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(digits, "B"), unit); ok {
			digits, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63-shift)
	return int64(n << shift), err == nil
}

// recorded returns a command as undo lists it: without the texts and values that it wrote.
// They would stay in the record after they are removed from the chat.
func recorded(args []string) []string {
	var kept []string
	hide := false
	for _, arg := range args {
		name, _, valued := strings.Cut(arg, "=")
		secret := name == "--text" || name == "--add" || name == "--sub" || strings.HasPrefix(name, "--set")
		switch {
		case hide:
			arg, hide = "…", false
		case secret && valued:
			arg = name + "=…"
		case secret:
			hide = true
		}
		kept = append(kept, arg)
	}
	return kept
}
