//go:build man

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManPages: every command has a page with all its flags, and mandoc, where it
// is installed, has nothing to say of any.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	if out, errs, code := terminal(t, 80, "man", dir); code != 0 || out+errs != "" {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	var pages []string
	var see func(cmd *cobra.Command)
	see = func(cmd *cobra.Command) {
		path := filepath.Join(dir, manName(cmd)+".1")
		page := string(read(t, path))
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(page, `\fB\-\-`+roff(f.Name)+`\fR`) {
				t.Errorf("%s: nothing of --%s", path, f.Name)
			}
		})
		pages = append(pages, path)
		for _, c := range pagesBelow(cmd) {
			see(c)
		}
	}
	see(newRoot(&console{env: env{}}))
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed")
	}
	out, err := exec.Command(mandoc, append([]string{"-Tlint"}, pages...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestManDate: two builds of one release have the same pages.
func TestManDate(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1767323045")
	dir := t.TempDir()
	cmd := exec.Command("stchat", "man", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page := string(read(t, filepath.Join(dir, "stchat.1")))
	if !strings.HasPrefix(page, `.TH STCHAT 1 2026-01-02 "stchat"`) {
		t.Errorf("%.60s", page)
	}
	if _, err := os.Stat(filepath.Join(dir, "stchat-man.1")); err == nil {
		t.Error("the hidden command has a page")
	}
}

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		".hidden\na.b": "\\&.hidden\na.b",
		"'quoted' \\n": `\(aqquoted\(aq \en`,
		"--flag ~ ^ `": `\-\-flag \(ti \(ha \(ga`,
	} {
		if diff := cmp.Diff(want, roff(in)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}
