// Command modulepath copies the module as it is in git's index under another
// module path, such as the one it is published under, and makes the files of a
// module proxy of the copy.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const usage = `usage: scripts/release/module [-o DIR] [--proxy DIR --version vX.Y.Z] HOST/OWNER/stchat

Copies the files that git knows, with that module path, into a new folder:
what is published as a repository there, so that this works:

  go install HOST/OWNER/stchat/cmd/stchat@latest

`

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
}

func run(args []string, out, errs io.Writer) error {
	fs := flag.NewFlagSet("module", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.Usage = func() { fmt.Fprint(errs, usage); fs.PrintDefaults() }
	dir := fs.String("o", "", "the folder to make; default: a temporary one, whose name is printed")
	proxy := fs.String("proxy", "", "also write into this folder what a module proxy serves")
	version := fs.String("version", "v0.0.0", "the version that the proxy serves")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		fs.Usage()
		return fmt.Errorf("name one module path")
	}
	path := fs.Arg(0)
	if err := module.Check(path, *version); err != nil {
		return err
	}
	if *dir == "" {
		made, err := os.MkdirTemp("", "stchat-module-")
		if err != nil {
			return err
		}
		*dir = made
	}
	if err := copyModule(".", *dir, path); err != nil {
		return err
	}
	if *proxy != "" {
		if err := writeProxy(*proxy, *dir, module.Version{Path: path, Version: *version}); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, *dir)
	return err
}

// copyModule copies the files of the module in from that git tracks into the
// folder to, and gives the copy another module path.
func copyModule(from, to, path string) error {
	files, err := tracked(from)
	if err != nil {
		return err
	}
	goMod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		return err
	}
	old := modfile.ModulePath(goMod)
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if data, err = underPath(name, data, old, path); err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(from, name))
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode()); err != nil {
			return err
		}
	}
	return nil
}

// tracked returns the names of the files in dir that git tracks and that are
// still there.
func tracked(dir string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			files = append(files, name)
		}
	}
	return files, nil
}

// underPath returns what the file called name holds once the module is called
// path instead of old: go.mod names it, Go files import from it, and the linter
// is told of it.
func underPath(name string, data []byte, old, path string) ([]byte, error) {
	switch {
	case name == "go.mod":
		f, err := modfile.Parse(name, data, nil)
		if err != nil {
			return nil, err
		}
		if err := f.AddModuleStmt(path); err != nil {
			return nil, err
		}
		return f.Format()
	case name == ".golangci.yml":
		text := strings.ReplaceAll(string(data), "pkg: "+old+"/", "pkg: "+path+"/")
		text = strings.ReplaceAll(text, "module-path: "+old, "module-path: "+path)
		return []byte(strings.ReplaceAll(text, "local-prefixes: ["+old, "local-prefixes: ["+path)), nil
	case strings.HasSuffix(name, ".go"):
		return moveImports(name, data, old, path)
	}
	return data, nil
}

// moveImports edits the import paths below old, and nothing else, of a Go file.
func moveImports(name string, data []byte, old, path string) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, data, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var moved bytes.Buffer
	end := 0
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if rest, ok := strings.CutPrefix(imported, old+"/"); ok {
			moved.Write(data[end:files.Position(spec.Path.Pos()).Offset])
			moved.WriteString(strconv.Quote(path + "/" + rest))
			end = files.Position(spec.Path.End()).Offset
		}
	}
	moved.Write(data[end:])
	return moved.Bytes(), nil
}

// writeProxy writes into the folder proxy what "go help goproxy" asks a module
// proxy to serve of the module in dir.
func writeProxy(proxy, dir string, v module.Version) error {
	escaped, err := module.EscapePath(v.Path)
	if err != nil {
		return err
	}
	at := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": v.Version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"list": []byte(v.Version + "\n"), v.Version + ".info": info, v.Version + ".mod": goMod} {
		if err := os.WriteFile(filepath.Join(at, name), data, 0o644); err != nil {
			return err
		}
	}
	var zipped bytes.Buffer
	if err := zip.CreateFromDir(&zipped, v, dir); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, v.Version+".zip"), zipped.Bytes(), 0o644)
}
