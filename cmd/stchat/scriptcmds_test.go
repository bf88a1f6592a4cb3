package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

type scriptCmd = func(ts *testscript.TestScript, neg bool, args []string)

// scriptCmds are the commands that scripts have beyond testscript's own.
func scriptCmds() map[string]scriptCmd {
	cmds := map[string]scriptCmd{
		"exits":        scriptExits,
		"unprivileged": scriptUnprivileged,
		"write":        scriptWrite,
		"append":       scriptAppend,
		"trim-newline": scriptTrimNewline,
		"crlf":         scriptCRLF,
		"bom":          scriptBOM,
		"utf16":        scriptUTF16,
		"repeat-line":  scriptRepeatLine,
		"hardlink":     scriptHardlink,
		"fifo":         scriptFifo,
		"mode":         scriptMode,
		"holds":        scriptHolds,
		"remember":     scriptRemember,
		"unchanged":    scriptUnchanged,
		"jsonget":      scriptJSONGet,
		"says":         scriptSays,
		"offers":       scriptOffers,
		"fields":       scriptFields,
		"terminal":     scriptTerminal,
	}
	for name, cmd := range cmds {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("unsupported: ! %s", name)
			}
			cmd(ts, neg, args)
		}
	}
	return cmds
}

// scriptOffers completes a command line until stdout matches: a busy machine may need longer than
// completion waits.
func scriptOffers(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	for try := 1; ; try++ {
		ts.Check(ts.Exec("stchat", append([]string{"__complete"}, args[1:]...)...))
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if try == 20 {
			ts.Fatalf("no match for `%s` found in stdout", args[0])
		}
	}
}

// scriptCondition knows [root], for whom no file is read-only, [casefold], a disk to
// which a.jsonl and A.JSONL are one file, and [symlinks], which testscript's own
// [symlink] takes for granted under Wine: it makes none, and says nothing.
func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "symlinks":
		return symlinks(), nil
	case "root":
		return os.Geteuid() == 0, nil
	case "casefold":
		return runtime.GOOS == "windows" || runtime.GOOS == "darwin", nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// symlinks reports whether symbolic links can be made here.
var symlinks = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "stchat-symlinks-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	link := filepath.Join(dir, "link")
	if os.Symlink("nowhere", link) != nil {
		return false
	}
	_, err = os.Lstat(link)
	return err == nil
})

// exits N prog args... runs a program that must end with exit code N.
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits N prog args...")
	}
	ended(ts, args[0], ts.Exec(args[1], args[2:]...))
}

// ended compares the exit code of a program that was run.
func ended(ts *testscript.TestScript, want string, err error) {
	code := 0
	if err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// write FILE TEXT... makes a file of the texts, one after the other, in which
// \n, \r, \x00, \ufeff stand for what they stand for in Go, and \\ for \.
func scriptWrite(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: write FILE TEXT...")
	}
	var data []byte
	for _, text := range args[1:] {
		for text != "" {
			r, multibyte, rest, err := strconv.UnquoteChar(text, 0)
			ts.Check(err)
			text = rest
			if multibyte {
				data = utf8.AppendRune(data, r)
			} else {
				data = append(data, byte(r))
			}
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// append FILE N TEXT appends a text N times, as it stands.
func scriptAppend(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: append FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	editFiles(ts, args[:1], func(data []byte) []byte {
		return append(data, strings.Repeat(args[2], n)...)
	})
}

// editFiles applies a change to each of the files.
func editFiles(ts *testscript.TestScript, files []string, change func([]byte) []byte) {
	for _, file := range files {
		path := ts.MkAbs(file)
		data, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, change(data), 0o666))
	}
}

// trim-newline FILE... takes the final newline off, as SillyTavern writes its chats.
func scriptTrimNewline(ts *testscript.TestScript, _ bool, args []string) {
	editFiles(ts, args, func(data []byte) []byte { return bytes.TrimSuffix(data, []byte("\n")) })
}

// crlf FILE... ends every line in CR LF.
func scriptCRLF(ts *testscript.TestScript, _ bool, args []string) {
	editFiles(ts, args, func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) })
}

// utf16 FILE... stores files in UTF-16, little-endian, with a byte order mark, as Notepad does.
func scriptUTF16(ts *testscript.TestScript, _ bool, args []string) {
	editFiles(ts, args, func(text []byte) []byte {
		out := []byte{0xff, 0xfe}
		for _, unit := range utf16.Encode([]rune(string(text))) {
			out = binary.LittleEndian.AppendUint16(out, unit)
		}
		return out
	})
}

// bom FILE... puts a byte order mark in front.
func scriptBOM(ts *testscript.TestScript, _ bool, args []string) {
	editFiles(ts, args, func(data []byte) []byte { return append([]byte("\ufeff"), data...) })
}

// repeat-line FILE N LINE appends a line N times; %d in it is its number.
func scriptRepeatLine(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: repeat-line FILE N LINE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	editFiles(ts, args[:1], func(data []byte) []byte {
		for i := range n {
			data = append(append(data, strings.ReplaceAll(args[2], "%d", strconv.Itoa(i))...), '\n')
		}
		return data
	})
}

// hardlink OLD NEW gives a file another name.
func scriptHardlink(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: hardlink OLD NEW")
	}
	ts.Check(os.Link(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// mode FILE MODE compares a file's permissions.
func scriptMode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mode FILE MODE")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// holds DIR NAME... compares what a folder holds, temporary files and all.
func scriptHolds(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: holds DIR NAME...")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := slices.Clone(args[1:])
	slices.Sort(want)
	if diff := cmp.Diff(want, names); diff != "" && len(want)+len(names) > 0 {
		ts.Fatalf("%s (-want +got):\n%s", args[0], diff)
	}
}

// treesKey is where a script keeps what remember saw.
type treesKey struct{}

// remember PATH... notes every file and byte below the paths; unchanged PATH...
// fails when one is not as it was then.
func scriptRemember(ts *testscript.TestScript, _ bool, args []string) {
	for _, path := range args {
		ts.Value(treesKey{}).(map[string]string)[path] = treeOf(ts, path)
	}
}

func scriptUnchanged(ts *testscript.TestScript, _ bool, args []string) {
	for _, path := range args {
		was, ok := ts.Value(treesKey{}).(map[string]string)[path]
		if !ok {
			ts.Fatalf("%s was not remembered", path)
		}
		if diff := cmp.Diff(was, treeOf(ts, path)); diff != "" {
			ts.Fatalf("%s changed (-was +is):\n%s", path, diff)
		}
	}
}

func treeOf(ts *testscript.TestScript, path string) string {
	var tree strings.Builder
	ts.Check(filepath.WalkDir(ts.MkAbs(path), func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&tree, "%s %v", p, e.Type())
		if e.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&tree, " %x", sha256.Sum256(data))
		}
		tree.WriteByte('\n')
		return nil
	}))
	return tree.String()
}

// jsonget FILE PATH WANT compares the raw bytes of a value with WANT. PATH is
// gjson's: a.b, or ..1.a for the second line; WANT "-" means that there is none.
func scriptJSONGet(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: jsonget FILE PATH WANT")
	}
	got := gjson.Get(ts.ReadFile(args[0]), args[1])
	raw := got.Raw
	if !got.Exists() {
		raw = "-"
	}
	if raw != args[2] {
		ts.Fatalf("%s: %s is %s, want %s", args[0], args[1], raw, args[2])
	}
}

// says FILE LINE... compares a file, or stdout or stderr, with lines, in which
// "..." stands for anything.
func scriptSays(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: says FILE LINE...")
	}
	text := ts.ReadFile(args[0])
	got := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		got = nil
	}
	want := args[1:]
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want[i]), `\.\.\.`, ".*")
		same = got[i] == want[i] || regexp.MustCompile("^"+pattern+"$").MatchString(got[i])
	}
	if !same {
		ts.Fatalf("%s is\n\t%s\nwant\n\t%s", args[0], strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// scriptFields prints values of the JSON objects on stdout, one object a line, separated by tabs: fields
// LIST, of keys and JSON pointers. In texts tab, line feed and backslash are escaped.
func scriptFields(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: fields LIST")
	}
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var row []string
		for name := range strings.SplitSeq(args[0], ",") {
			path, err := patch.ParseKey(name)
			ts.Check(err)
			raw, _ := patch.Get([]byte(strings.TrimSpace(line)), path)
			text, isText := rawjson.Unquote(raw)
			if !isText {
				text = string(rawjson.Compact(raw))
			}
			row = append(row, escaped(text))
		}
		fmt.Fprintln(ts.Stdout(), strings.Join(row, "\t"))
	}
}
