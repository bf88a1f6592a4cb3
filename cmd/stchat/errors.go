package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/isolate"
	"stchat/internal/extension/luker"
	"stchat/internal/history"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/lorebook"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/cut"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// Exit codes, besides 0 for done.
const (
	exitNo      = 1
	exitTrouble = 2
	exitSignal  = 128 // plus the signal's number
)

// errNo ends a command whose answer is no, once that is printed.
var errNo = errors.New("the answer is no")

// errReported ends a command whose errors were printed one by one.
var errReported = errors.New("already reported")

// usageError is wrong usage that only the command itself can detect.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// interruption is the cause of a context that a signal cancelled.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return "interrupted" }

// isInterrupted reports whether an error comes from a cancelled context.
func isInterrupted(err error) bool { return errors.Is(err, context.Canceled) }

// work is how far a command with many files got.
type work struct {
	done, left  int
	interrupted bool // a file was not done because of an interruption
}

// String returns the line that an interrupted command ends with.
func (w work) String() string {
	if w.done == 0 && w.left <= 1 {
		return "interrupted"
	}
	return fmt.Sprintf("interrupted: %d of %s done, %d not begun", w.done, plural.S(w.done+w.left, "file"), w.left)
}

// outcome returns the error of a command that has printed everything: [errReported] if
// something failed, else [errNo] if the answer is no.
func outcome(failed, no bool) error {
	switch {
	case failed:
		return errReported
	case no:
		return errNo
	}
	return nil
}

// outcome is [outcome] of a command that told what failed.
func (c *console) outcome(no bool) error { return outcome(c.erred, no) }

// errorDocument is what --json prints in place of a result that failed.
type errorDocument struct {
	Schema int         `json:"schema"`
	Path   *string     `json:"path" is:"path"` // null where the error is about no file
	Error  errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    *int   `json:"line"`
	Column  *int   `json:"column"`
}

// documentOf returns the document of an error; an empty path means the one that the error
// itself names.
func (c *console) documentOf(path string, err error) (doc errorDocument) {
	doc = errorDocument{Schema: 1, Error: errorDetail{Code: errorCode(err), Message: errorText(c.meant(path, err))}}
	if line, ok := errors.AsType[*jsonl.LineError](err); ok {
		doc.Error.Line, doc.Error.Column = &line.Damage.Line, &line.Damage.Column
		path = cmp.Or(path, line.Path)
	}
	if none, ok := errors.AsType[*address.NoneError](err); ok {
		path = cmp.Or(path, none.Arg)
	}
	if source, ok := errors.AsType[*ops.SourceError](err); ok {
		path = cmp.Or(path, source.Path)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		path = cmp.Or(path, pe.Path)
	}
	if path != "" {
		doc.Path = &path
	}
	return doc
}

// documented is an error that ends a command, printed as a document where documents are wanted.
func (c *console) documented(err error) error {
	if c.json && err != nil && !isAny(err, errNo, errReported) && !isA[*usageError](err) {
		c.document(c.documentOf("", err))
		c.flush()
	}
	return err
}

// errorText returns the text of an error, with what can be done about it.
func errorText(err error) string {
	switch {
	case isInterrupted(err):
		return "interrupted"
	}
	return withHint(err, nil).Error()
}

// errorCode sorts errors into the kinds that scripts tell apart (docs/json.md). The
// more specific kinds come first.
func errorCode(err error) string {
	any := func(targets ...error) bool { return isAny(err, targets...) }
	kind, _ := errors.AsType[*ops.Kind](err)
	switch {
	case isInterrupted(err):
		return "interrupted"
	case kind != nil && kind.Code != "":
		return kind.Code
	case isA[*usageError](err), isA[*isolate.RangeError](err), isA[*message.SwipeError](err), isA[*choose.OutOfRangeError](err),
		any(choose.ErrNone, choose.ErrNotOne, choose.ErrRange, patch.ErrMalformed, patch.ErrNoPlace),
		any(chat.ErrStdin, names.ErrEmptyName, names.ErrReserved, names.ErrNoRoom, names.ErrNoFree):
		return "usage"
	case isA[*cut.OwnMessagesError](err), isA[*luker.DatabaseError](err), any(patch.ErrTest, patch.ErrMissing, message.ErrChosenSwipe, message.ErrOnlySwipe),
		any(changeset.ErrOtherRoot, changeset.ErrElsewhere, changeset.ErrUndone, history.ErrOtherRoot, history.ErrForeign, history.ErrNewer, history.ErrBusy, history.ErrNoLocks):
		return "refused"
	case isA[*changeset.StuckError](err), isA[*changeset.LeftError](err), isA[*changeset.SinceError](err), isA[*changeset.LostError](err), any(jsonl.ErrChanged, safefile.ErrChanged):
		return "changed"
	case any(names.ErrTaken, fs.ErrExist):
		return "exists"
	case any(fs.ErrNotExist, lorebook.ErrMissing, changeset.ErrNoRecord), isA[*address.NoneError](err):
		return "not-found"
	case any(fs.ErrPermission, syscall.EROFS, history.ErrReadOnly):
		return "denied"
	case any(noSpace()...), any(history.ErrFull):
		return "no-space"
	case isA[*ops.NoChatsError](err), any(chat.ErrNotChat, chat.ErrNotRegular, safefile.ErrNotRegular):
		return "not-a-chat"
	case any(history.ErrCut, history.ErrBroken), isA[*jsonl.LineError](err), isA[*jsonl.Damage](err), isA[*meta.BadMetadataError](err), isA[*lorebook.NotReadableError](err):
		return "damaged"
	}
	return "failed"
}

// isAny reports whether an error is one of several, or wraps one.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// isA reports whether an error is an E, or wraps one.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
