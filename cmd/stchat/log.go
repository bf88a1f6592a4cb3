package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/jsondoc"
	"stchat/internal/ops/keep"
	"stchat/internal/sendate"
	"stchat/internal/visible"
)

const logDoc = `List the versions of a chat in the history, newest first: number, time, where
it came from, messages, what was added, changed and removed since the version
before, note, and the last message. --backups also lists SillyTavern's own
backups of the chat, and needs no history; a backup is matched to its chat by
its slug, or else by the lines they share.

CHAT is a path, even of a file that is gone or was renamed, or OWNER/NAME: the
character's folder or the group's name, and the chat. With --rev or --as-of, log
lists what that version changed, one row per message: + added, ~ changed,
- removed.

REV is a number as listed, or counts from the end: -1 is the newest version.
TIME is a date, a time, or an age such as 90m, 2h, 3d or 2w: the last version
that is not later.
`

const logExample = `  stchat log "chats/Mira/Harbour.jsonl"
  stchat log Mira/Harbour --backups
  stchat log Mira/Harbour --rev -1
  stchat log Mira/Harbour --as-of 2d`

// pickFlags are --rev and --as-of.
type pickFlags struct {
	rev  int64
	asOf string
}

func (p *pickFlags) addFlags(fs *pflag.FlagSet, what string) {
	fs.Int64Var(&p.rev, "rev", 0, what+" `REV`: a number as log lists it, or from the end, -1 being the newest")
	fs.StringVar(&p.asOf, "as-of", "", what+" the last version not later than `TIME`: 2026-03-01, \"2026-03-01 18:42\", RFC 3339, or an age such as 90m, 2h, 3d, 2w")
}

// pick returns the version that the flags name; given is false if neither was used.
func (p *pickFlags) pick(fs *pflag.FlagSet, now time.Time) (which keep.Pick, given bool, err error) {
	switch {
	case fs.Changed("rev") && fs.Changed("as-of"):
		return which, true, usagef("--rev and --as-of both name the version; take one of them")
	case fs.Changed("rev") && p.rev == 0:
		return which, true, usagef("--rev takes a number such as 12 or -1; versions count from 1")
	case fs.Changed("as-of"):
		t, ok := sendate.ParseMoment(p.asOf, now)
		if !ok {
			return which, true, usagef("--as-of takes a date (2026-03-01), a time (\"2026-03-01 18:42\", RFC 3339) or an age (2h, 3d), not %q", p.asOf)
		}
		return keep.Pick{AsOf: t}, true, nil
	}
	return keep.Pick{Rev: p.rev}, p.rev != 0, nil
}

type logOptions struct {
	storeFlag
	pickFlags
	backups bool
	limit   int
	data    string
	json    bool
}

func newLogCmd(a *app) *cobra.Command {
	return a.command(&logOptions{}, &cobra.Command{
		Use:     "log CHAT",
		Short:   "List the versions of a chat",
		Long:    logDoc + exitStatus(""),
		Example: logExample,
		Args:    cobra.MaximumNArgs(1),
	})
}

func (o *logOptions) addFlags(fs *pflag.FlagSet) {
	o.pickFlags.addFlags(fs, "list what changed in")
	fs.BoolVar(&o.backups, "backups", false, "also list SillyTavern's own backups of the chat")
	fs.Var(number(&o.limit, 1, "a number of at least 1"), "limit", "list at most `N` versions")
	o.storeFlag.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	fs.BoolVar(&o.json, "json", false, "print JSON documents, one per version or message")
}

func (o *logOptions) run(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error {
	where, err := o.where(a, args, o.data)
	if err != nil {
		return err
	}
	where.Backups = o.backups
	which, one, err := o.pick(fs, where.Now)
	if err != nil {
		return err
	}
	if one && o.limit > 0 {
		return usagef("--limit goes with the list of versions, not with one of them")
	}
	c := a.console()
	w := bufio.NewWriter(c.Out)
	if one {
		err = keep.Changes(ctx, where, which, func(d keep.Changed) error {
			if o.json {
				return jsondoc.Write(w, d, "")
			}
			_, err := fmt.Fprintln(w, changedLine(c, d))
			return err
		})
	} else {
		err = keep.Log(ctx, where, o.limit, func(d keep.Logged) error {
			if o.json {
				return jsondoc.Write(w, d, "")
			}
			_, err := fmt.Fprintln(w, loggedLine(c, d))
			return err
		})
	}
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	return o.told(err)
}

// told adds what helps to an error.
func (o *logOptions) told(err error) error {
	if errors.Is(err, keep.ErrUnknown) && !o.backups {
		return &hinted{err, "; --backups also looks in SillyTavern's own"}
	}
	if err == nil {
		return nil
	}
	return withHint(err, nil)
}

// loggedLine returns a version as a line of text.
func loggedLine(c *console, d keep.Logged) string {
	rev := "-"
	if d.Rev != nil {
		rev = strconv.FormatInt(*d.Rev, 10)
	}
	counts := fmt.Sprintf("+%d ~%d -%d", d.Added, d.Changed, d.Removed)
	if !c.OutTTY {
		return strings.Join([]string{rev, d.At, string(d.Source), strconv.Itoa(d.Messages), counts, visible.Text(d.Note), visible.Text(d.Last)}, "\t")
	}
	line := fmt.Sprintf("%4s  %s  %-8s  %6d  %-14s", rev, localTime(d.At), d.Source, d.Messages, counts)
	if d.Note != "" {
		line += "  (" + visible.Text(d.Note) + ")"
	}
	return line + "  " + visible.Truncate(visible.Text(d.Last), 60)
}

// changedLine returns a changed message as a line of text.
func changedLine(c *console, d keep.Changed) string {
	sign := "~"
	var text string
	switch {
	case d.From == nil:
		sign, text = "+", *d.To
	case d.To == nil:
		sign, text = "-", *d.From
	default:
		text = *d.From + " → " + *d.To
		if c.OutTTY {
			text = visible.Truncate(visible.Text(*d.From), 60) + " → " + visible.Truncate(visible.Text(*d.To), 60)
		}
	}
	if !c.OutTTY {
		return fmt.Sprintf("%s\t%d\t%s\t%s\t%s", sign, d.Index, d.Role, visible.Text(d.Name), visible.Text(text))
	}
	return fmt.Sprintf("%s %5d  %-9s  %s: %s", sign, d.Index, d.Role, visible.Text(d.Name), visible.Truncate(visible.Text(text), 130))
}

// localTime returns a document's time in local time, for people.
func localTime(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return at
	}
	return t.Local().Format(time.DateTime)
}
