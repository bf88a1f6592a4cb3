package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/zip"
)

// repo is the module, as a test sees it.
var repo = filepath.Join("..", "..", "..")

// TestModuleZip: everything in the module may be in a module zip, without which
// go install cannot fetch it, and the golden files, some of which may not, are
// no part of it.
func TestModuleZip(t *testing.T) {
	files, err := zip.CheckDir(repo)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range files.Invalid {
		t.Errorf("%s: %v", e.Path, e.Err)
	}
	sources := 0
	for _, name := range files.Valid {
		if strings.HasPrefix(filepath.ToSlash(name), "testdata/golden/") {
			t.Errorf("%s would be in the zip", name)
		}
		if filepath.Ext(name) == ".go" {
			sources++
		}
	}
	if sources == 0 {
		t.Error("no Go file would be in the zip")
	}
}

func TestUnderPath(t *testing.T) {
	const path = "example.com/somebody/stchat"
	tests := []struct{ name, in, want string }{
		{"go.mod", "module stchat\n\ngo 1.26.0\n", "module " + path + "\n\ngo 1.26.0\n"},
		{"testdata/golden/go.mod", "module stchat/testdata/golden\n", "module stchat/testdata/golden\n"},
		{"README.md", "import \"stchat/internal/x\"\n", "import \"stchat/internal/x\"\n"},
		{".golangci.yml", "- {pkg: stchat/internal/x}\nmodule-path: stchat}\nlocal-prefixes: [stchat]", "- {pkg: " + path + "/internal/x}\nmodule-path: " + path + "}\nlocal-prefixes: [" + path + "]"},
		{
			"a.go",
			"package a\n\nimport (\n\t\"fmt\"\n\n\t\"stchatter/b\"\n\tc \"stchat/internal/c\" // why\n)\n\nvar s = \"stchat/internal/c\"\n",
			"package a\n\nimport (\n\t\"fmt\"\n\n\t\"stchatter/b\"\n\tc \"" + path + "/internal/c\" // why\n)\n\nvar s = \"stchat/internal/c\"\n",
		},
	}
	for _, tt := range tests {
		got, err := underPath(tt.name, []byte(tt.in), "stchat", path)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := underPath("a.go", []byte("no Go"), "stchat", path); err == nil {
		t.Error("a file that is no Go passes")
	}
}

func TestWriteProxyRefuses(t *testing.T) {
	if err := run([]string{"-o", t.TempDir(), "Not A Path"}, os.Stdout, new(strings.Builder)); err == nil {
		t.Error("a path that no module may have passes")
	}
}
