package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// These are set by a release build: -ldflags "-X main.version=v1.2.3 -X main.homepage=https://…".
var version, homepage string

// versionInfo is what version --json prints.
type versionInfo struct {
	Schema   int      `json:"schema"`
	Version  string   `json:"version"`
	Commit   *string  `json:"commit"`
	Modified bool     `json:"modified"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Formats  []string `json:"formats"`

	home string // the address of the program's page, "" if it has none
}

// formats returns the programs whose files stchat was written for and tested against.
func formats() []string {
	return []string{
		"SillyTavern 1.12.0 to 1.19.0 (chats, groups, lorebooks)",
		"Luker 2.8.0 (sidecars in files)",
		"ST-Auto-Recap 5083d00",
		"Auto-Illustrator c32b9b5",
	}
}

func readVersion() versionInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	v := versionInfo{
		Schema: 1, Version: cmp.Or(version, info.Main.Version, "(devel)"), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Formats: formats(), home: homeOf(info.Main.Path),
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = &s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// homeOf returns the address of the program's page: that of a release build, else that of the
// module's path, "" where that has no host.
func homeOf(module string) string {
	host, _, _ := strings.Cut(module, "/")
	if homepage == "" && strings.Contains(host, ".") {
		return "https://" + module
	}
	return homepage
}

func newVersion() verb {
	return verb{
		use: "version", short: "Print version, commit, Go version and known formats",
		doc: `Print the version of stchat, the commit it was built from, the Go version and
platform, and the formats it knows.
`,
		also:    "help",
		example: "  stchat version\n  stchat version --json\n  stchat version --jq .formats",
		args:    cobra.NoArgs,
		options: versionOptions{},
	}
}

type versionOptions struct{}

func (versionOptions) addFlags(*pflag.FlagSet) {}

func (versionOptions) run(_ context.Context, c *console, _ *pflag.FlagSet, _ []string) error {
	return c.version()
}

// version prints what version prints.
func (c *console) version() error {
	v := readVersion()
	if c.json {
		return c.document(v)
	}
	commit := cmp.Or(deref(v.Commit), "unknown")
	if v.Modified {
		commit += " (modified)"
	}
	fmt.Fprintf(c.w, "stchat %s\ncommit  %s\ngo      %s %s\n", v.Version, commit, v.Go, v.Platform)
	label := "formats "
	for _, f := range v.Formats {
		fmt.Fprintln(c.w, label+f)
		label = "        "
	}
	return c.printed()
}
