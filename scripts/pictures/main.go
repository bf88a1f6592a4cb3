// Pictures makes the pictures of docs/reading.md: what commands print on a terminal, as SVG.
//
//	go run ./scripts/pictures
package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"stchat/internal/text/visible"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run() error {
	folder, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	stchat := filepath.Join(folder, "stchat")
	if out, err := exec.Command("go", "build", "-o", stchat, "./cmd/stchat").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.MkdirAll("docs/pictures", 0o755); err != nil {
		return err
	}
	for name, args := range map[string][]string{
		"read": {"show", "Maren Holm/@", "0..2"},
		"diff": {"diff", "Maren Holm/@", "Maren Holm/Branch #1"},
	} {
		quoted := []string{"stchat"}
		for _, arg := range args {
			quoted = append(quoted, visible.Quote(arg))
		}
		cmd := exec.Command(stchat, append(args, "--color", "always")...) //nolint:gosec // ours
		cmd.Dir, cmd.Env = "testdata/demo", append(os.Environ(), "TZ=UTC")
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) { //nolint:errorlint // Output returns it as it is
			return fmt.Errorf("%q: %w", args, err)
		}
		if err := os.WriteFile(filepath.Join("docs", "pictures", name+".svg"), []byte(picture(strings.Join(quoted, " "), string(out))), 0o644); err != nil { //nolint:gosec // for everybody
			return err
		}
	}
	return nil
}

// The size of a cell, and how many lines are shown.
const (
	cell   = 8.4
	height = 19
	most   = 34
)

// picture draws lines of a terminal.
func picture(command, out string) string {
	lines := append([]string{"\x1b[2m$\x1b[0m " + command}, strings.Split(strings.TrimRight(out, "\n"), "\n")...)
	lines = lines[:min(len(lines), most)]
	var b strings.Builder
	wide := 0
	for i, line := range lines {
		at := 0
		code := ""
		for part := range strings.SplitSeq("\x1b[0m"+line, "\x1b[") {
			style, text, ok := strings.Cut(part, "m")
			if !ok {
				continue
			}
			code = style
			if text == "" {
				continue
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%d"%s>%s</text>`+"\n", 12+float64(at)*cell, 24+i*height, class(code), html.EscapeString(text))
			at += visible.Width(text)
		}
		wide = max(wide, at)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d">
<style>text{font:14px ui-monospace,monospace;fill:#d8dee9;white-space:pre}.b{font-weight:bold}.i{font-style:italic}.d{fill:#8a93a6}.c31{fill:#ff7b85}.c32{fill:#9ddb8a}.c33{fill:#f0cf7e}.c36{fill:#7fd3e6}</style>
<rect width="100%%" height="100%%" rx="8" fill="#1e2030"/>
%s</svg>
`, 24+float64(wide)*cell, 24+len(lines)*height, b.String())
}

// class returns the classes of a colour's code.
func class(code string) string {
	names := map[string]string{"1": "b", "2": "d", "3": "i", "31": "c31", "32": "c32", "33": "c33", "36": "c36"}
	var list []string
	for part := range strings.SplitSeq(code, ";") {
		if name := names[part]; name != "" {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ` class="` + strings.Join(list, " ") + `"`
}
