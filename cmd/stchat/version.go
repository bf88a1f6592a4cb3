package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"stchat/internal/jsondoc"
)

// These are set by a release build: -ldflags "-X main.version=v1.2.3 -X main.homepage=https://…".
var version, homepage string

const versionDoc = `Print the version of stchat, the commit it was built from, the Go version and
platform, and the formats it knows.
`

// versionInfo is what version --json prints.
type versionInfo struct {
	Schema   int      `json:"schema"`
	Version  string   `json:"version"`
	Commit   *string  `json:"commit"`
	Modified bool     `json:"modified"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Formats  []string `json:"formats"`
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
	v := versionInfo{
		Schema: 1, Version: version, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Formats: formats(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	if v.Version == "" {
		v.Version = "(devel)"
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

// modulePath returns the path under which the module was built.
func modulePath() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Path
	}
	return ""
}

func newVersionCmd(a *app) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Print version, commit, Go version and known formats",
		Long:              versionDoc + exitStatus(""),
		Example:           "  stchat version\n  stchat version --json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return runVersion(a, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	return cmd
}

func runVersion(a *app, asJSON bool) error {
	v := readVersion()
	if asJSON {
		return jsondoc.Write(a.Out, v, "")
	}
	commit := "unknown"
	if v.Commit != nil {
		commit = *v.Commit
		if v.Modified {
			commit += " (modified)"
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "stchat %s\ncommit  %s\ngo      %s %s\n", v.Version, commit, v.Go, v.Platform)
	for i, f := range v.Formats {
		head := "        "
		if i == 0 {
			head = "formats "
		}
		text.WriteString(head + f + "\n")
	}
	_, err := fmt.Fprint(a.Out, text.String())
	return err
}
