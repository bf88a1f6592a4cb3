package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/patch"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// valueFlags change a JSON value (CONTENT.md 1.2).
type valueFlags struct {
	edits                             []patch.Edit
	merge, mergePatch, patch, replace string

	own     func(key string) error // refuses a key that has a flag of its own; nil if none has
	inOrder bool                   // make --set and --unset in the order given, not --unset last
}

// editing returns a function that collects --set, --set-string and --unset in the order given.
func (v *valueFlags) editing(parse func(string) (patch.Edit, error)) func(string) error {
	return func(text string) error {
		e, err := parse(text)
		if err == nil && v.own != nil {
			err = v.own(e.Path[0])
		}
		if err == nil {
			v.edits = append(v.edits, e)
		}
		return err
	}
}

// parseSet parses KEY=VALUE; value encodes VALUE as JSON.
func parseSet(s string, value func(string) []byte) (patch.Edit, error) {
	key, text, ok := strings.Cut(s, "=")
	if !ok {
		return patch.Edit{}, errors.New("KEY=VALUE has no =")
	}
	path, err := patch.ParseKey(key)
	return patch.Edit{Path: path, Value: value(text)}, err
}

func parseUnset(key string) (patch.Edit, error) {
	path, err := patch.ParseKey(key)
	return patch.Edit{Path: path}, err
}

// ownFlag refuses a key of the metadata that has a flag of its own.
func ownFlag(key string) error {
	switch key {
	case "main_chat":
		return errors.New("main_chat has a flag of its own: --main-chat")
	case "integrity":
		return errors.New("integrity has a flag of its own: --integrity")
	}
	return nil
}

// isUUID reports whether text is a UUID as SillyTavern writes its slugs: uuid.Parse alone
// also takes other notations.
func isUUID(text string) bool {
	_, err := uuid.Parse(text)
	return err == nil && len(text) == 36
}

func (v *valueFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, "Flags that change values", v.addValueFlags)
}

func (v *valueFlags) addValueFlags(fs *pflag.FlagSet) {
	fs.Func("set", "set `KEY=VALUE`; VALUE is JSON if it parses as JSON, else a string; a KEY that begins with / is a JSON pointer, such as /extra/model", v.editing(func(s string) (patch.Edit, error) { return parseSet(s, patch.ParseValue) }))
	fs.Func("set-string", "set `KEY=VALUE`; VALUE is always a string", v.editing(func(s string) (patch.Edit, error) { return parseSet(s, rawjson.Quote) }))
	fs.Func("unset", "remove `KEY`", v.editing(parseUnset))
	fs.Var(filled(&v.merge), "merge", "merge the JSON object in `FILE`, its top level only; - is stdin")
	fs.Var(filled(&v.mergePatch), "merge-patch", "apply the merge patch (RFC 7386) in `FILE`; - is stdin")
	fs.Var(filled(&v.patch), "patch", "apply the JSON patch (RFC 6902) in `FILE`; - is stdin")
	fs.Var(filled(&v.replace), "replace", "put the JSON object in `FILE` in place of the whole; - is stdin")
}

// changes returns the changes of the flags and the files that they name. read means that
// stdin is already read for something else.
func (v *valueFlags) changes(ctx context.Context, c *console, read bool) (made patch.Changes, err error) {
	made.Edits = slices.Clone(v.edits)
	if !v.inOrder {
		rank := func(e patch.Edit) int {
			if e.Value == nil {
				return 1 // it is removed
			}
			return 0
		}
		slices.SortStableFunc(made.Edits, func(a, b patch.Edit) int { return rank(a) - rank(b) })
	}
	stdin := ""
	for _, f := range []struct {
		name, path string
		into       *[]byte
		object     bool
	}{{"merge", v.merge, &made.Merge, true}, {"merge-patch", v.mergePatch, &made.MergePatch, false}, {"replace", v.replace, &made.Replace, true}, {"patch", v.patch, nil, false}} {
		switch {
		case f.path == "":
			continue
		case f.path == chat.Stdin && read:
			return made, usagef("stdin is read already; --%s needs a file", f.name)
		case f.path == chat.Stdin && stdin != "":
			return made, usagef("--%s and --%s both read stdin; one of them needs a file", stdin, f.name)
		case f.path == chat.Stdin:
			stdin = f.name
		}
		raw, err := readJSON(ctx, c, f.path)
		if err != nil {
			return made, fmt.Errorf("--%s: %w", f.name, err)
		}
		if f.object && rawjson.KindOf(raw) != rawjson.ObjectKind {
			return made, fmt.Errorf("--%s: %s: not a JSON object", f.name, label(f.path))
		}
		if f.into != nil {
			*f.into = raw
			continue
		}
		if made.Patch, err = patch.ParseOperations(raw); err != nil {
			return made, fmt.Errorf("--%s: %w", f.name, err)
		}
	}
	return made, nil
}

// readJSON reads one JSON value from a file or from stdin.
func readJSON(ctx context.Context, c *console, path string) ([]byte, error) {
	data, err := readInput(ctx, c, path)
	if err != nil {
		return nil, err
	}
	if d := jsonl.Check(data); d != nil {
		return nil, &jsonl.LineError{Path: label(path), Damage: *d}
	}
	return rawjson.Compact(data), nil
}

// readInput reads a regular file, or standard input for -, which may block and is left when ctx
// ends. It does not open a FIFO, which would wait for its writer.
func readInput(ctx context.Context, c *console, path string) ([]byte, error) {
	if path == chat.Stdin {
		return progress.Until(ctx, func() ([]byte, error) { return io.ReadAll(c.In) })
	}
	data, _, err := safefile.Read(path)
	return data, notRegular(err)
}

// notRegular adds what helps to the error of an input that is no regular file.
func notRegular(err error) error {
	if errors.Is(err, safefile.ErrNotRegular) {
		err = fmt.Errorf("%w; to read a pipe, give - and feed it to standard input", err)
	}
	return ops.PathError(err)
}
