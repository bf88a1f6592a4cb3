// Gendemo writes testdata/demo: a small SillyTavern user folder with invented
// chats, in the very bytes SillyTavern 1.19 would have written. The README's
// examples and many tests stand on it, so it must be right in every link,
// number and hash: `stchat check testdata/demo` finds nothing there.
//
// What is told is in story/*.txt; the rest is what SillyTavern and its
// extensions would have kept beside such a story. The output depends on
// nothing but these files. Change them, run
//
//	go run ./scripts/gendemo -o testdata/demo
//
// and the test of this package holds the two together.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gendemo:", err)
		os.Exit(2)
	}
}

// run parses the arguments and makes the folder match the stories:
// files are written, and files the demo no longer has are removed.
func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("gendemo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "", "`folder` to write, such as testdata/demo")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("-o is missing; it names the folder to write")
	}
	files, err := demo()
	if err != nil {
		return err
	}
	if err := removeOthers(*out, files); err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(*out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeOthers removes the files below root that files does not name. It
// refuses a folder that holds anything but chats, books, groups and pictures:
// a mistyped -o must not empty somebody's home.
func removeOthers(root string, files map[string][]byte) error {
	var gone []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if _, ok := files[filepath.ToSlash(rel)]; ok {
			return nil
		}
		if !slices.Contains([]string{".jsonl", ".json", ".png"}, filepath.Ext(path)) {
			return fmt.Errorf("%s is no file of a demo folder; is -o right?", path)
		}
		gone = append(gone, path)
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, path := range gone {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
