package ops

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"stchat/internal/folder/inspect"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/place/sendate"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/progress"
)

// InspectOptions selects what Inspect reports, and to which callbacks.
type InspectOptions struct {
	List  List // "-" is Stdin
	Stdin io.Reader
	Meter *progress.Meter
	Where []Condition // all must hold, or the chat is passed over

	// Each is called with every chat's report, or with the *SourceError that prevented it, in
	// the order of the list and, in a folder, of the chats' paths. An error ends the run.
	Each func(*inspect.Report, error) error

	// Message, if set, is called with every message; Each then receives only errors. Begin is
	// called before the messages of each chat. Damaged is called with a chat's first damaged
	// lines as they are found, and last with the number of further ones.
	Message func(*inspect.Message) error
	Begin   func(path string, several bool) error
	Damaged func(path string, d []jsonl.Damage, more int)

	FirstLine bool // see inspect.MessagesOptions
	Head      int
}

// Inspected is the outcome of an inspection.
type Inspected struct {
	Several  bool // whether more than one chat may have been meant
	Overview inspect.Overview
	Errs     []error // about what user folders hold; all others went to Each

	Done, Chats int // how many chats were reported, and how many there are
}

// Inspect reports what chats contain. The error is ctx's or a callback's; the result then
// counts what was done before it.
func Inspect(ctx context.Context, opt InspectOptions) (*Inspected, error) {
	walked := walk(opt.List, true)
	res := &Inspected{Several: several(opt.List.Paths, walked), Chats: len(walked.Chats)}
	for _, t := range walked.Chats {
		opt.Meter.Expect(1, t.Size)
	}
	around := new(library.Library)
	sum := inspect.NewSummer(around)
	failed := walked.Errs
	// failures reports those that come before a chat
	failures := func(chats int) error {
		for len(failed) > 0 && failed[0].At <= chats {
			sum.Failed++
			if err := opt.Each(nil, failed[0]); err != nil {
				return err
			}
			failed = failed[1:]
		}
		return nil
	}

	var err error
	if opt.Message != nil {
		err = opt.messages(ctx, walked.Chats, res, around, failures)
	} else {
		err = opt.reports(ctx, walked.Chats, around, func(r *inspect.Report, err error) error {
			if err := failures(res.Done); err != nil {
				return err
			}
			res.Done++
			switch {
			case err != nil:
				sum.Failed++
			case r == nil: // passed over
				return nil
			default:
				sum.Add(r)
			}
			return opt.Each(r, err)
		})
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = failures(res.Chats)
	}
	if err != nil {
		return res, err
	}
	res.Overview, res.Errs = sum.Finish(walked.Users)
	return res, nil
}

// several reports whether more than one chat may be meant: several PATHs, or a folder, whatever
// it holds.
func several(paths []string, w Walked) bool {
	isFolder := len(w.Users) > 0 || len(w.Chats) > 0 && w.Chats[0].From != "" || len(w.Chats)+len(w.Errs) == 0
	return len(paths) > 1 || isFolder
}

// reports passes on the reports of the chats in their order, while others are still being read.
func (o *InspectOptions) reports(ctx context.Context, chats []Target, around *library.Library, each func(*inspect.Report, error) error) error {
	type outcome struct {
		report *inspect.Report
		err    error
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var failed error
	waiting := map[int]outcome{}
	next := 0
	scanners := sync.Pool{New: func() any { return inspect.NewScanner(around) }}
	progress.Each(ctx, len(chats), func(i int) {
		k := scanners.Get().(*inspect.Scanner)
		r, err := o.one(ctx, chats[i], k, around)
		scanners.Put(k)
		mu.Lock()
		defer mu.Unlock()
		waiting[i] = outcome{r, err}
		for {
			done, ok := waiting[next]
			if !ok || failed != nil || ctx.Err() != nil {
				return
			}
			delete(waiting, next)
			next++
			if failed = each(done.report, done.err); failed != nil {
				stop()
			}
		}
	})
	return failed
}

// one returns the report of a chat, nil if it is passed over.
func (o *InspectOptions) one(ctx context.Context, t Target, k *inspect.Scanner, around *library.Library) (*inspect.Report, error) {
	defer o.Meter.Done()
	c, err := chat.Open(ctx, t.Path, chat.Options{Groups: around, Stdin: o.Stdin, Regular: t.From != "", Any: true})
	if err != nil {
		return nil, &SourceError{Path: t.Path, Err: PathError(err)}
	}
	defer c.Close()
	for _, condition := range o.Where {
		if !condition.Holds(c.Metadata().Bytes()) {
			return nil, nil
		}
	}

	opt := inspect.Options{Progress: o.Meter.Follow()}
	if c.Source.Size < LargeChat {
		opt.Workers = 1
	}
	r, err := k.Scan(ctx, c, opt)
	if err != nil {
		return nil, &SourceError{Path: t.Path, Err: err}
	}
	return r, nil
}

// messages passes on the messages of the chats, one chat after another.
func (o *InspectOptions) messages(ctx context.Context, chats []Target, res *Inspected, around *library.Library, failures func(chats int) error) error {
	for i, t := range chats {
		if err := failures(i); err != nil {
			return err
		}
		if err := o.messagesOf(ctx, t, res.Several, around); err != nil {
			return err
		}
		res.Done++
		o.Meter.Done()
	}
	return nil
}

func (o *InspectOptions) messagesOf(ctx context.Context, t Target, several bool, around *library.Library) error {
	c, err := chat.Open(ctx, t.Path, chat.Options{Groups: around, Stdin: o.Stdin, Any: true})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return o.Each(nil, &SourceError{Path: t.Path, Err: PathError(err)})
	}

	defer c.Close()
	if err := o.Begin(t.Path, several); err != nil {
		return err
	}
	var out error
	message := func(m *inspect.Message) error {
		out = o.Message(m)
		return out
	}
	// one worker is enough: most of the work is in the one goroutine that passes messages on
	opt := inspect.MessagesOptions{Workers: 1, Progress: o.Meter.Follow(), FirstLine: o.FirstLine, Head: o.Head}
	var damage jsonl.Damages
	err = inspect.Messages(ctx, c, opt, message, func(d jsonl.Damages) {
		known := len(damage.First)
		damage.Append(d)
		o.Damaged(t.Path, damage.First[known:], 0)
	})

	o.Damaged(t.Path, nil, damage.More())
	switch {
	case out != nil:
		return out
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return o.Each(nil, &SourceError{Path: t.Path, Err: err})
	}
	return nil
}

// LastChanged returns when a chat was last changed: the date of its last message, or else that of its file.
func LastChanged(r *inspect.Report) time.Time {
	if r.LastDate != nil {
		if date, ok := sendate.Parse(*r.LastDate); ok {
			return date
		}
	}
	info, err := os.Stat(r.Path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
