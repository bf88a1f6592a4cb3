package ops

import (
	"context"
	"io"
	"sync"

	"stchat/internal/chat"
	"stchat/internal/inspect"
	"stchat/internal/progress"
)

// InspectOptions says what is inspected.
type InspectOptions struct {
	Paths []string // chats, folders, user folders; "-" is Stdin
	Stdin io.Reader
	Meter *progress.Meter

	// Each gets every chat's report, or why there is none, in the order of
	// Paths and, in a folder, of the chats' paths. An error ends the run.
	Each func(*inspect.Report, error) error

	// Message, where it is given, gets every message instead of Each a report
	// a chat, and Begin the chat before its messages. Damaged lines go to
	// Damaged.
	Message func(*inspect.Message) error
	Begin   func(path string, several bool) error
	Damaged func(path string, d inspect.Damage)

	FirstLine bool // see inspect.MessagesOptions
	Head      int
}

// Inspected is what an inspection came to.
type Inspected struct {
	Several bool // whether more than one chat may have been meant
	Summary inspect.Summary
	Errs    []error // of PATHs and of what user folders hold; Each was told of the chats'
}

// Inspect tells what is in chats. The error is that ctx ended, or Each's.
func Inspect(ctx context.Context, opt InspectOptions) (*Inspected, error) {
	walked := walkOrStdin(opt.Paths, opt.Meter != nil)
	res := &Inspected{Errs: walked.Errs, Several: several(opt.Paths, walked)}
	for _, t := range walked.Chats {
		opt.Meter.Expect(1, t.Size)
	}
	around := inspect.NewAround()
	sum := inspect.NewSummer(around)
	tell := func(r *inspect.Report, err error) error {
		if err == nil {
			sum.Add(r)
		} else {
			sum.Failed++
		}
		return opt.Each(r, err)
	}
	var err error
	if opt.Message != nil {
		err = opt.messages(ctx, walked.Chats, res.Several, around)
	} else {
		err = opt.reports(ctx, walked.Chats, around, tell)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	sum.Failed += len(walked.Errs)
	res.Summary, errs = sum.Finish(walked.Users)
	res.Errs = append(res.Errs, errs...)
	return res, nil
}

// walkOrStdin is [Walk] where "-" means itself.
func walkOrStdin(paths []string, sizes bool) Walked {
	var w Walked
	var rest []string
	flush := func() {
		v := walk(rest, sizes)
		w.Chats = append(w.Chats, v.Chats...)
		w.Users = append(w.Users, v.Users...)
		w.Errs = append(w.Errs, v.Errs...)
		rest = nil
	}
	stdin := false
	for _, path := range paths {
		switch {
		case path != chat.Stdin:
			rest = append(rest, path)
		case !stdin: // it can be read once
			flush()
			w.Chats = append(w.Chats, Target{Path: path})
			stdin = true
		}
	}
	flush()
	return w
}

// several tells whether a table is wanted: where more than one PATH is given,
// or a folder, whatever it holds.
func several(paths []string, w Walked) bool {
	isFolder := len(w.Users) > 0 || len(w.Chats) > 0 && w.Chats[0].From != "" || len(w.Chats)+len(w.Errs) == 0
	return len(paths) > 1 || isFolder
}

// reports hands on the reports of chats in their order, while others are
// being read.
func (o *InspectOptions) reports(ctx context.Context, chats []Target, around *inspect.Around, tell func(*inspect.Report, error) error) error {
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
	each(ctx, len(chats), func(i int) {
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
			if failed = tell(done.report, done.err); failed != nil {
				stop()
			}
		}
	})
	return failed
}

func (o *InspectOptions) one(ctx context.Context, t Target, k *inspect.Scanner, around *inspect.Around) (*inspect.Report, error) {
	defer o.Meter.Done()
	c, err := chat.Open(ctx, t.Path, chat.Options{Groups: around, Stdin: o.Stdin, Regular: t.From != ""})
	if err != nil {
		return nil, pathError(err)
	}
	defer c.Close()
	opt := inspect.Options{Progress: o.Meter.Follow()}
	if c.Source.Size < largeChat {
		opt.Workers = 1
	}
	return k.Scan(ctx, c, opt)
}

// messages hands on the messages of chats, one chat after another.
func (o *InspectOptions) messages(ctx context.Context, chats []Target, several bool, around *inspect.Around) error {
	for _, t := range chats {
		if err := o.messagesOf(ctx, t, several, around); err != nil {
			return err
		}
		o.Meter.Done()
	}
	return nil
}

func (o *InspectOptions) messagesOf(ctx context.Context, t Target, several bool, around *inspect.Around) error {
	c, err := chat.Open(ctx, t.Path, chat.Options{Groups: around, Stdin: o.Stdin})
	if err != nil {
		return o.Each(nil, pathError(err))
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
	// what is made of messages is told by one goroutine, which has most of the work
	opt := inspect.MessagesOptions{Workers: 1, Progress: o.Meter.Follow(), FirstLine: o.FirstLine, Head: o.Head}
	err = inspect.Messages(ctx, c, opt, message, func(d inspect.Damage) { o.Damaged(t.Path, d) })
	switch {
	case out != nil:
		return out
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return o.Each(nil, err)
	}
	return nil
}
