package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/json/jsondoc"
	"stchat/internal/place/userdir"
)

// judgeVariable asks that what a script runs is judged; it names the script's folder.
const judgeVariable = "STCHAT_JUDGE"

// judgeMost is how much a script's folder may hold for its commands to be judged.
const judgeMost = 16 << 20

// mainJudged is the program as scripts run it. A command that writes, and succeeds, is run
// again in copies of the script's folder as it was before: a dry run must change nothing,
// and tell the steps of the real run; undo must give the folder back byte for byte, and
// undo of that the result. Where it does not, the command ends with exit code 99.
func mainJudged() {
	work := os.Getenv(judgeVariable)
	args := os.Args[1:]
	if work == "" || writingVerb(args) == "" {
		main()
		return
	}
	j := &judge{work: work, args: args}
	if !j.copy() {
		main()
		return
	}
	cwd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	code := run(context.Background(), newEnv(), args)
	if code == 0 {
		if err := j.judge(cwd); err != nil {
			fmt.Fprintf(os.Stderr, "judged: %q: %v\n", args, err)
			code = 99
		}
	}
	os.RemoveAll(j.dir)
	os.Exit(code)
}

// writingVerb returns the command where it is one that writes files, and does so now.
func writingVerb(args []string) string {
	root := newRoot(&console{env: newEnv()})
	cmd, rest, err := root.Find(args)
	if err != nil {
		return ""
	}
	dry := cmd.Flags().Lookup("dry-run")
	if dry == nil || cmd.ParseFlags(markNegatives(cmd, rest)) != nil || cmd.Flags().Changed("help") {
		return ""
	}
	if dry.Value.String() == "true" {
		return ""
	}
	if restore := cmd.Flags().Lookup("restore"); restore != nil && restore.Value.String() != "true" {
		return ""
	}
	// What reads standard input has read it, and what writes there writes no file.
	positional := cmd.Flags().Args()
	for _, name := range []string{"output", "merge", "replace", "merge-patch", "patch", "reset", "add", "files-from"} {
		if f := cmd.Flags().Lookup(name); f != nil {
			positional = append(positional, f.Value.String())
		}
	}
	if slices.Contains(positional, "-") {
		return ""
	}
	if cmd.Name() == "snapshot" || cmd.Name() == "store" {
		return "" // they write to the history alone, which has transactions of its own
	}
	if cmd.Name() == "export" && cmd.Flags().Lookup("output").Value.String() == "" {
		return "" // it prints
	}
	if cmd.Name() == "undo" || cmd.Name() == "redo" {
		return "" // they know files by inode, which a copy has not; the others' undo and redo are judged
	}
	return cmd.Name()
}

// judge is one command that is judged.
type judge struct {
	work, dir string // the script's folder, and where its copy is
	args      []string
	before    map[string]string
	errs      string // what the last run said
}

// copy copies the script's folder as it is; ok is false where it holds what cannot be
// copied, or too much.
func (j *judge) copy() (ok bool) {
	var err error
	if j.dir, err = os.MkdirTemp("", "stchat-judge-"); err != nil {
		panic(err)
	}
	j.dir = userdir.RealPath(j.dir)
	size := int64(0)
	err = filepath.WalkDir(j.work, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(j.work, path)
		if err != nil {
			return err
		}
		to := filepath.Join(j.dir, rel)
		switch {
		case e.IsDir() && e.Name() == ".stchat":
			return errors.Join(copyHistory(path, to), fs.SkipDir)
		case e.IsDir() && e.Name() == ".tmp":
			return fs.SkipDir
		case e.IsDir():
			return errors.Join(os.MkdirAll(to, 0o777), os.Chmod(to, info.Mode().Perm()))
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(j.there(target), to))
		case !e.Type().IsRegular():
			return errors.ErrUnsupported
		}
		if safefile.IsTemp(e.Name()) {
			return nil // another run's, which is at work
		}
		if size += info.Size(); size > judgeMost {
			return errors.ErrUnsupported
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(to, data, 0o666), os.Chmod(to, info.Mode().Perm()), os.Chtimes(to, time.Time{}, info.ModTime()))
	})
	if err != nil {
		os.RemoveAll(j.dir)
		return false
	}
	j.before = j.tree()
	return true
}

// copyHistory copies what restore reads of a folder .stchat, where it is there.
func copyHistory(from, to string) error {
	data, err := os.ReadFile(filepath.Join(from, "history.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, "history.db"), data, 0o600))
}

// there is a path or argument in the copy.
func (j *judge) there(text string) string { return strings.ReplaceAll(text, j.work, j.dir) }

// tree returns every file of the copy with its mode and bytes, but for those of .stchat.
func (j *judge) tree() map[string]string {
	tree := map[string]string{}
	_ = filepath.WalkDir(j.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".stchat" {
			return fs.SkipDir
		}
		if rel, _ := filepath.Rel(j.dir, path); !e.IsDir() {
			data, _ := os.ReadFile(path)
			info, _ := e.Info()
			tree[rel] = info.Mode().String() + "\n" + string(data)
		}
		return nil
	})
	return tree
}

// judge runs the command again in the copy.
func (j *judge) judge(cwd string) error {
	if err := os.Chdir(j.there(cwd)); err != nil {
		return err
	}
	defer os.Chdir(cwd)
	var args []string
	for _, arg := range append(slices.Clone(j.args), "--json") {
		args = append(args, j.there(arg))
	}
	dryArgs := append(slices.Clone(args), "--dry-run")
	now := time.Now()
	dry, code := j.run(now, dryArgs)
	if code != 0 && !slices.Contains(args, "-y") { // repair ends with 1 while something is to be fixed
		return fmt.Errorf("a dry run ends with exit code %d: %s", code, j.errs)
	}
	if diff := cmp.Diff(j.before, j.tree()); diff != "" {
		return fmt.Errorf("the dry run changed the folder (-was +is):\n%s", diff)
	}
	real, code := j.run(now, args)
	if code != 0 {
		return fmt.Errorf("in a copy of its folder it ends with exit code %d: %s", code, j.errs)
	}
	for _, d := range slices.Concat(dry, real) {
		if err := fitsOne(d.raw); err != nil {
			return err
		}
	}
	if len(real) > 0 && !slices.ContainsFunc(real, func(d doc) bool { return d.Steps != nil }) {
		return errors.New("its documents tell no steps and no operation")
	}
	if diff := cmp.Diff(told(dry), told(real)); diff != "" {
		return fmt.Errorf("the dry run does not tell what the real run does (-dry +real):\n%s", diff)
	}
	return j.undo(now, real)
}

// doc is what every document of a writing command has.
type doc struct {
	Operation *string
	Steps     []docStep
	all       map[string]any
	raw       []byte
}

type docStep struct {
	Do, Path, About string
	To              *string
	Bytes           int64
}

// fitsOne says what is wrong with a document that is valid by none of the schemas.
func fitsOne(raw []byte) error {
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return err
	}
	var errs []error
	for _, d := range documents() {
		var schema map[string]any
		text, err := json.Marshal(jsondoc.Schema(d.of))
		if err == nil {
			err = json.Unmarshal(text, &schema)
		}
		if err == nil {
			err = fitsSchema(schema, doc)
		}
		known, _ := schema["properties"].(map[string]any)
		for key := range doc {
			if _, ok := known[key]; !ok && err == nil {
				err = fmt.Errorf("nothing is said of %s", key)
			}
		}
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", d.name, err))
	}
	return fmt.Errorf("no schema has this document: %s\n%w", raw, errors.Join(errs...))
}

// told returns what documents tell that must be the same of a dry run: all but whether it was
// one, and the names of what a real run keeps.
func told(docs []doc) (told []map[string]any) {
	for _, d := range docs {
		told = append(told, sameOfDryRun(d.all).(map[string]any))
	}
	return told
}

func sameOfDryRun(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range []string{"dry_run", "written", "operation", "backup", "quarantine"} {
			delete(v, key)
		}
		for key := range v {
			v[key] = sameOfDryRun(v[key])
		}
	case []any:
		for i := range v {
			v[i] = sameOfDryRun(v[i])
		}
	case string:
		return regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`).ReplaceAllString(v, "UUID")
	}
	return value
}

// run runs the program in this process, at a time that stands still.
func (j *judge) run(now time.Time, args []string) (docs []doc, code int) {
	var out, errs bytes.Buffer
	env := env{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(name string) string { return j.there(os.Getenv(name)) }, Now: func() time.Time { return now }}
	code = run(context.Background(), env, args)
	j.errs = errs.String()
	for dec := json.NewDecoder(&out); dec.More(); {
		var d doc
		var raw json.RawMessage
		if dec.Decode(&raw) != nil || json.Unmarshal(raw, &d) != nil || json.Unmarshal(raw, &d.all) != nil {
			break
		}
		d.raw = raw
		docs = append(docs, d)
	}
	return docs, code
}

// undo takes back what was recorded, and takes that back as well.
func (j *judge) undo(now time.Time, docs []doc) error {
	after := j.tree()
	want := maps.Clone(j.before)
	var ids []string
	for _, d := range docs {
		if d.Operation != nil {
			if !slices.Contains(ids, *d.Operation) {
				ids = append(ids, *d.Operation)
			}
			continue
		}
		for _, s := range d.Steps {
			// Not recorded are, outside any user folder, one new file by itself and what takes the
			// place of one at --output.
			rel, err := filepath.Rel(j.dir, userdir.RealPath(s.Path))
			_, inside := userdir.Enclosing(s.Path)
			inside = inside && os.Getenv(undoVariable) != "0"
			named := slices.ContainsFunc(j.args, func(arg string) bool { return arg == "-o" || arg == "--output" })
			if err != nil || inside || len(d.Steps) != 1 || s.Do != string(changeset.Create) && !named {
				return fmt.Errorf("is not recorded: %+v", d.Steps)
			}
			want[rel] = after[rel]
		}
	}
	var redo [][]string
	for _, id := range slices.Backward(ids) {
		root, err := j.rootOf(id)
		if err != nil {
			return err
		}
		undone, code := j.run(now, []string{"undo", "--json", "--data", root, id})
		if code != 0 || len(undone) != 1 || undone[0].Operation == nil {
			return fmt.Errorf("undo %s: exit code %d: %s", id, code, j.errs)
		}
		redo = append(redo, []string{"undo", "--json", "--data", root, *undone[0].Operation})
	}
	if diff := cmp.Diff(want, j.tree()); diff != "" {
		return fmt.Errorf("undo does not give the folder back (-was +is):\n%s", diff)
	}
	for _, args := range slices.Backward(redo) {
		if _, code := j.run(now, args); code != 0 {
			return fmt.Errorf("%q: exit code %d: %s", args, code, j.errs)
		}
	}
	if diff := cmp.Diff(after, j.tree()); diff != "" {
		return fmt.Errorf("undo of the undo does not give the result back (-was +is):\n%s", diff)
	}
	return nil
}

// rootOf finds the folder that has a record.
func (j *judge) rootOf(id string) (root string, err error) {
	err = filepath.WalkDir(j.dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == id+".done" {
			root = filepath.Dir(filepath.Dir(path))
		}
		return err
	})
	if root == "" {
		err = errors.Join(err, fmt.Errorf("there is no record %s", id))
	}
	return root, err
}
