package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// notOurs are flags of other programs that pages and scripts name, by program.
var notOurs = map[string]string{
	"apk":  "--allow-untrusted",
	"brew": "--cask",
	"browser.mjs (Chromium)": "--disable --disable-background-networking --disable-component-update --disable-dev-shm-usage --disable-extensions " +
		"--disable-gpu --disable-quic --disable-sync --headless --host-resolver-rules --mute-audio --no-default-browser-check --no-first-run " +
		"--no-sandbox --remote-debugging-pipe --user-data-dir",
	"cp":                      "--reflink",
	"npm":                     "--ignore-scripts --no-audit --no-fund --omit",
	"parallel":                "--joblog --retry-failed --sshlogin --workdir",
	"sbatch":                  "--array --cpus-per-task --dependency --job-name --kill-on-invalid-dep --parsable",
	"scripts/conformance/run": "--browser --list --markdown --monkey --seed --stchat --versions",
	"scripts/guesses":         "--least",
	"scripts/release/run":     "--twice",
	"scripts/test":            "--race",
	"server.js":               "--autorun --listen --port --whitelist",
	"setpriv":                 "--clear-groups --regid --reuid",
	"systemctl":               "--now",
}

var (
	flagWord = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z-]*[a-z])`)
	// What a page shows as code in a line: the line of a block, or a span.
	span = regexp.MustCompile("`[^`]+`")
	// A command line of stchat, which is also $stchat and "$dir/stchat": at the beginning of a line, or behind another
	// command, a prompt, a bracket or a quote.
	callInShell = regexp.MustCompile("(?:^|[$`|&;(']|\\{\\})\\s*(?:env )?(?:[A-Z_]+=\\S* )*\"?(?:[$./\\w]*/)?[$]?stchat\"? ([^`|&;)>]*)")
	// Calls in the conformance scripts: of the functions that run stchat; the deeds of the monkey; and the lists of what
	// three scenarios try.
	callsInNode = map[string]*regexp.Regexp{
		"":                regexp.MustCompile("\\b(?:t\\.stchat|t\\.path|t\\.run|this\\.stchat|this\\.documents|kept|run)\\((?:\\{(?:[^{}]|\\{[^{}]*\\})*\\}|want|inPlace)?,?\\s*(?:['`][A-Z_]+=[^,]*,\\s*)?'([a-z][a-z-]*)'(?:, '([a-z]+)')?"),
		"scenarios/":      regexp.MustCompile(`\bandBack\(t, [^']*'([a-z][a-z-]*)'(?:, '([a-z]+)')?`),
		"monkey-ours.mjs": regexp.MustCompile(`(?:=> |\? |null : |&& |return )\[(?:\.\.\.newSlug\(at\), )?'([a-z][a-z-]*)'(?:, '([a-z]+)')?`),
		"edit.mjs":        regexp.MustCompile(`ours: \['([a-z][a-z-]*)'`),
		"following.mjs":   regexp.MustCompile(`'[A-Z]\w+': \['([a-z][a-z-]*)'`),
		"luker.mjs":       regexp.MustCompile(`\[\[\w*\], '([a-z][a-z-]*)'(?:, '([a-z]+)')?`),
		"making.mjs":      regexp.MustCompile(`call = \['([a-z][a-z-]*)'`),
	}
	callInGo   = regexp.MustCompile(`\b(?:call|storm|reads)\("([a-z-]+)"(?:, "([a-z]+)")?`)
	quotedFlag = regexp.MustCompile(`"--([a-z][a-z-]*[a-z])["=]`)
	plainWord  = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// oldWords collects what pages and scripts say that no command knows.
type oldWords struct {
	t     *testing.T
	root  *cobra.Command
	flags []string
	other map[string]bool
	calls int
}

// TestOldWords: no page and no script names a command that is not there, or a flag that no command has.
func TestOldWords(t *testing.T) {
	repo := filepath.Join("..", "..")
	w := oldWords{t: t, root: newRoot(&console{}), other: map[string]bool{}}
	w.root.InitDefaultHelpCmd()
	var see func(cmd *cobra.Command)
	see = func(cmd *cobra.Command) {
		w.flags = append(w.flags, flagNames(cmd)...)
		for _, below := range cmd.Commands() {
			see(below)
		}
	}
	see(w.root)
	w.flags = append(w.flags, "help", "version")
	for _, flags := range notOurs {
		for name := range strings.FieldsSeq(flags) {
			w.other[strings.TrimPrefix(name, "--")] = true
		}
	}
	var files []string
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "action.yml", ".pre-commit-hooks.yaml", "docs/*.md", "scripts/*", "scripts/*/*", "scripts/*/*/*"} {
		found, err := filepath.Glob(filepath.Join(repo, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		name, err := filepath.Rel(repo, file)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		// docs/flags.md and what people guess are old words.
		if info, err := os.Stat(file); err != nil || info.IsDir() || name == "docs/flags.md" || strings.HasPrefix(name, "scripts/guesses/") {
			continue
		}
		text := string(read(t, file))
		switch filepath.Ext(name) {
		case ".md":
			w.page(name, text)
		case ".mjs":
			for in, one := range callsInNode {
				if !strings.Contains(name, in) {
					continue
				}
				for _, call := range one.FindAllStringSubmatch(text, -1) {
					w.command(name, call[1:]...)
				}
			}
			w.all(name, flagWord, text)
		case ".go":
			for _, call := range callInGo.FindAllStringSubmatch(text, -1) {
				w.command(name, call[1:]...)
			}
			if strings.HasPrefix(name, "scripts/faults/") {
				w.all(name, quotedFlag, text)
			}
		default:
			w.shell(name, text)
		}
	}
	if w.calls < 300 {
		t.Errorf("only %d calls of stchat were found in pages and scripts", w.calls)
	}
}

// page looks at a page: all flags in it, and the calls in blocks and spans.
func (w *oldWords) page(name, text string) {
	block := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			block = !block
			continue
		}
		w.all(name, flagWord, line)
		if block || strings.HasPrefix(line, "    ") {
			w.line(name, line)
			continue
		}
		for _, code := range span.FindAllString(line, -1) {
			w.line(name, strings.Trim(code, "`"))
		}
	}
}

// shell looks at the lines of a script, a workflow or a text that have to do with stchat.
func (w *oldWords) shell(name, text string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "stchat") && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			w.line(name, line)
		}
	}
}

// line looks at the calls of stchat in a line: there has to be such a command, and its flags are its own.
func (w *oldWords) line(name, line string) {
	for _, call := range callInShell.FindAllStringSubmatch(line, -1) {
		words := strings.Fields(call[1])
		for len(words) > 0 && words[0] == "-q" {
			words = words[1:]
		}
		if len(words) == 0 || !plainWord.MatchString(words[0]) {
			continue
		}
		cmd := w.command(name, words[0], append(words, "")[1])
		if cmd == nil {
			continue
		}
		known := []string{"help"}
		for c := cmd; c != nil; c = c.Parent() {
			known = append(known, flagNames(c)...)
		}
		for _, flag := range flagWord.FindAllStringSubmatch(call[1], -1) {
			if !slices.Contains(known, flag[1]) {
				w.t.Errorf("%s: %s has no --%s: %s", name, cmd.CommandPath(), flag[1], strings.TrimSpace(line))
			}
		}
	}
}

// command finds the command of a call, and complains if there is none.
func (w *oldWords) command(name string, words ...string) *cobra.Command {
	w.calls++
	cmd, _, err := w.root.Find(words[:1])
	if err != nil || cmd == w.root {
		w.t.Errorf("%s: there is no command %q", name, words[0])
		return nil
	}
	if cmd.HasSubCommands() && len(words) > 1 && plainWord.MatchString(words[1]) {
		below, _, err := cmd.Find(words[1:2])
		if err != nil || below == cmd {
			w.t.Errorf("%s: there is no command %q", name, strings.Join(words[:2], " "))
			return nil
		}
		return below
	}
	return cmd
}

// all looks at every flag that the expression finds.
func (w *oldWords) all(name string, flag *regexp.Regexp, text string) {
	for _, m := range flag.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(w.flags, m[1]) && !w.other[m[1]] {
			w.t.Errorf("%s: no command has --%s", name, m[1])
		}
	}
}
