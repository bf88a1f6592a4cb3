package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"stchat/internal/change/safefile"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/ops/look"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plain"
)

// runEditor lets a person edit the text of the one chosen message in an editor.
func (o *editOptions) runEditor(ctx context.Context, c *console, choice choose.Choice, common edit.Options) error {
	if len(o.chosenBy.Ranges) > 1 {
		return usagef("what is to change? An editor is for one message; a TEXT that looks like a number goes with --text")
	}
	if !c.InTTY || !c.OutTTY {
		return usagef("what is to change? Give the TEXT, or e.g. --set name=Ines; an editor needs a terminal")
	}
	if len(common.Chats) != 1 {
		return usagef("an editor is for one message of one chat, not for %d chats", len(common.Chats))
	}
	path := common.Chats[0]
	before, err := safefile.StampPath(path)
	if err != nil {
		return ops.PathError(err)
	}
	old, err := textOf(ctx, path, choice)
	if err != nil {
		return err
	}
	text, kept, err := c.edited(ctx, old)
	if err != nil {
		return err
	}
	if text == old {
		c.note("unchanged")
		return os.RemoveAll(filepath.Dir(kept))
	}

	after, err := safefile.StampPath(path)
	if err != nil {
		return fmt.Errorf("%w; the text is kept in %s", ops.PathError(err), kept)
	}
	if !after.Same(before) {
		return fmt.Errorf("%s: %w; the text is kept in %s", path, errEdited, kept)
	}
	values := patch.Changes{Edits: []patch.Edit{{Path: patch.Path{"mes"}, Value: rawjson.Quote(text)}}}
	results := edit.Set(ctx, edit.SetOptions{Options: common, Choice: choice, Values: values, One: true})
	err = o.report(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
	if err != nil {
		c.note("the text is kept in %s", kept)
		return err
	}
	return os.RemoveAll(filepath.Dir(kept))
}

// errEdited means that a chat is not as it was when an editor was opened.
var errEdited = error(&ops.Kind{Code: "changed", Text: "this chat changed while the editor was open, so nothing is done"})

// textOf returns the text of the one chosen message of a chat.
func textOf(ctx context.Context, path string, choice choose.Choice) (text string, err error) {
	found := 0
	_, err = look.Messages(ctx, look.MessageOptions{Path: path, Choice: choice}, func(m *look.Message) error {
		found++
		text = deref(m.Text)
		if !utf8.Valid(m.Raw.Text) {
			return fmt.Errorf("%s: the message has bytes that are not UTF-8, which an editor would change; 'stchat replace' leaves them as they are", chat.Label(path))
		}
		return nil
	})

	switch {
	case err != nil:
		return "", withHint(err, editHints())
	case found == 0:
		return "", fmt.Errorf("%s: %w", chat.Label(path), choose.ErrNone)
	case found > 1:
		return "", usagef("an editor is for one message, and %d are chosen", found)
	}
	return text, nil
}

// edited returns a text as a person leaves it in an editor, and the file that holds it, in a folder of its
// own.
func (c *console) edited(ctx context.Context, old string) (text, path string, err error) {
	dir, err := os.MkdirTemp("", "stchat-edit-")
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "message.md")
	if err := os.WriteFile(path, []byte(old+"\n"), 0o600); err != nil {
		return "", "", errors.Join(err, os.RemoveAll(dir))
	}

	cmd := editorCommand(ctx, c, path)
	cmd.Stdin = c.In
	cmd.Stdout = c.Files[0]
	cmd.Stderr = c.Files[1]
	if err := cmd.Run(); err != nil {
		return "", "", errors.Join(fmt.Errorf("the editor failed, and nothing is changed: %w", err), os.RemoveAll(dir))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	return afterEditing(data, old), path, nil
}

// byteOrderMark begins a text of a program that marks UTF-8, or of a person.
const byteOrderMark = "\ufeff"

// afterEditing returns the text in a file that had another one, and a line end behind it, when the editor got it. What
// the editor may have added by itself is taken off, unless the text had it before: a byte order mark, CR before LF.
func afterEditing(data []byte, old string) string {
	if string(data) == old+"\n" {
		return old
	}
	if !strings.HasPrefix(old, byteOrderMark) {
		data = plain.UTF8(data)
	}
	if strings.Contains(old, "\r") {
		return strings.TrimSuffix(string(data), "\n")
	}
	return plain.Text(data)
}

// editorCommand returns the command that opens a file in VISUAL, EDITOR, or what the system has.
func editorCommand(ctx context.Context, c *console, path string) *exec.Cmd {
	editor := cmp.Or(c.Getenv("VISUAL"), c.Getenv("EDITOR"))
	if runtime.GOOS == "windows" {
		words := strings.Fields(cmp.Or(editor, "notepad"))
		return exec.CommandContext(ctx, words[0], append(words[1:], path)...) //nolint:gosec // it is the user's own setting
	}
	if editor == "" {
		editor = "vi"
		if _, err := exec.LookPath("nano"); err == nil {
			editor = "nano"
		}
	}
	return exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, path) //nolint:gosec // it is the user's own setting
}
