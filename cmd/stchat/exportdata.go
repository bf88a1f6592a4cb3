package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"stchat/internal/ops"
	"stchat/internal/ops/dataset"
	"stchat/internal/plural"
	"stchat/internal/progress"
)

// fits refuses flags that do not fit a format of data.
func (o *exportOptions) fits(format dataset.Format) error {
	switch {
	case o.reasoning:
		return usagef("--reasoning is for pages and Markdown; --reasoning-as says where it goes in data")
	case format == dataset.Rows && (o.opt.System != "" || o.opt.Reasoning != "" || o.opt.NoGreeting || o.opt.WithHidden):
		return usagef("--format rows has every message as it is: leave --system, --reasoning-as, --no-greeting and --with-hidden out")
	case format != dataset.Rows && o.opt.Swipes:
		return usagef("--swipes goes with --format rows")
	case format == dataset.ShareGPT && o.opt.Reasoning == dataset.ReasoningField:
		return usagef("--format sharegpt has no field for the reasoning; --reasoning-as think puts it in front of the text")
	}
	return nil
}

// data writes chats as data.
func (e *exporting) data(ctx context.Context) error {
	opt := e.opt
	opt.Format, opt.Macros = dataset.Format(e.format), e.names == "macro"
	if path, ok := strings.CutPrefix(opt.System, "@"); ok {
		text, err := progress.Until(ctx, func() ([]byte, error) { return os.ReadFile(path) })
		if err != nil {
			return fmt.Errorf("--system: %w", ops.PathError(err))
		}
		opt.System = strings.TrimRight(string(text), "\r\n")
	}
	bad := 0
	err := dataset.Export(ctx, opt, func(d *dataset.Document, err error) error {
		if err != nil {
			return e.fail(d.Path, err)
		}
		e.leftOut(d.Path, d.Skipped, e.skipDamaged)
		e.none, bad = e.none && d.Lines == 0, bad+d.Bad
		switch {
		case d.Begins != "":
			e.note("%s: left out, the beginning of %q", label(d.Path), d.Begins)
		case d.Lines == 0:
			e.note("%s: no line: nothing is left for this format", label(d.Path))
		case d.Repeated > 0:
			e.note("%s: its first %s are in another chat, too", label(d.Path), plural.S(d.Repeated, "message"))
		}
		if e.json {
			return e.document(d)
		} else if opt.Folder {
			return e.written(d.Output)
		}
		return nil
	})
	if errors.Is(err, dataset.ErrNone) {
		return nil
	}
	if err == nil && !opt.Folder && opt.Output != "" {
		err = e.written(&opt.Output)
	}
	if bad > 0 && err == nil {
		e.note("what is not UTF-8 in %s is U+FFFD now", plural.S(bad, "text"))
	}
	if opt.Macros && err == nil {
		e.note("macros stand for names; what else tells who somebody is stays")
	}
	return err
}
