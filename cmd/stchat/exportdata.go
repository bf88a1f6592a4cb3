package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/jsondoc"
	"stchat/internal/ops"
	"stchat/internal/ops/dataset"
	"stchat/internal/plural"
)

// fits refuses flags that do not fit a format of data.
func (o *exportOptions) fits(format dataset.Format) error {
	switch {
	case o.reasoning:
		return usagef("--reasoning is for pages and Markdown; --reasoning-as says where it goes in data")
	case format == dataset.Rows && (o.system != "" || o.reasoningAs != "" || o.noGreeting || o.withHidden):
		return usagef("--format rows has every message as it is: leave --system, --reasoning-as, --no-greeting and --with-hidden out")
	case format != dataset.Rows && o.swipes:
		return usagef("--swipes goes with --format rows")
	case format == dataset.ShareGPT && o.reasoningAs == dataset.ReasoningField:
		return usagef("--format sharegpt has no field for the reasoning; --reasoning-as think puts it in front of the text")
	}
	return nil
}

// exportData writes chats as data.
func (o *exportOptions) exportData(ctx context.Context, a *app, format dataset.Format, folder bool, args []string) error {
	if err := o.fits(format); err != nil {
		return err
	}
	system := o.system
	if path, ok := strings.CutPrefix(system, "@"); ok {
		text, err := readAll(ctx, func() ([]byte, error) { return os.ReadFile(path) })
		if err != nil {
			return fmt.Errorf("--system: %w", ops.PathError(err))
		}
		system = strings.TrimRight(string(text), "\r\n")
	}
	choice, err := o.choice(a.Now())
	if err != nil {
		return err
	}
	list, err := o.list(ctx, a, args, "name a chat, an owner or a folder, e.g. `stchat export chats --format rows`")
	if err != nil {
		return err
	}
	changes, err := a.changes(false, false)
	if err != nil {
		return err
	}
	c := a.console()
	w := bufio.NewWriterSize(c.Out, 64<<10)
	failed, lines, bad := false, 0, 0
	err = dataset.Export(ctx, dataset.Options{
		List: list, Choice: choice, Open: chat.Options{Data: userFolder(a, o.data, list.Paths)}, Format: format,
		Output: o.output, Folder: folder, Stdout: w, Force: o.force, Changes: changes, System: system, Reasoning: o.reasoningAs,
		Macros: o.names == "macro", Swipes: o.swipes, Leaves: o.leaves, NoGreeting: o.noGreeting, WithHidden: o.withHidden, SkipDamaged: o.skipDamaged,
	}, func(d *dataset.Document, err error) error {
		if err != nil {
			failed = true
			path := ""
			if d != nil {
				path = d.Path
			}
			return c.failed(w, o.json, path, forceHint(err))
		}
		c.leftOut(d.Path, d.Skipped, o.skipDamaged)
		lines, bad = lines+d.Lines, bad+d.Bad
		switch {
		case d.Begins != "":
			c.note("%s: left out, the beginning of %q", label(d.Path), d.Begins)
		case d.Lines == 0:
			c.note("%s: no line: nothing is left for this format", label(d.Path))
		case d.Repeated > 0:
			c.note("%s: its first %s are in another chat, too", label(d.Path), plural.S(d.Repeated, "message"))
		}
		if o.json {
			return jsondoc.Write(w, d, "")
		}
		if folder && d.Output != nil {
			_, err = w.WriteString(c.path(*d.Output) + "\n")
		}
		return err
	})
	if err == nil && !folder && o.output != "" && !o.json {
		_, err = w.WriteString(c.path(o.output) + "\n")
	}
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	if errors.Is(err, dataset.ErrNone) {
		return outcome(failed, true)
	} else if err != nil {
		return forceHint(err)
	}
	if bad > 0 {
		c.note("what is not UTF-8 in %s is U+FFFD now", plural.S(bad, "text"))
	}
	if o.names == "macro" {
		c.note("macros stand for names; what else tells who somebody is stays")
	}
	return outcome(failed, lines == 0 && !failed)
}
