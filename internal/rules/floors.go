package rules

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/extension/luker"
	"stchat/internal/userdir"
)

// floors are the floor logs beside a chat, and the chosen swipes of the messages that they
// name. Its size follows the logs, not the chat's length.
type floors struct {
	paths  []string
	swipes map[int]int // chosen swipe by message; noMessage: not read yet
}

// newFloors finds the floor logs beside a chat, and reads which messages they name.
func newFloors(around *Surroundings, c *Chat) (f floors) {
	if !c.checked || c.Kind == userdir.File {
		return f
	}
	for _, sidecar := range around.Folder(c.Folder).Sidecars(c.Name) {
		if sidecar.Kind != luker.FloorLog {
			continue
		}
		f.paths = append(f.paths, sidecar.Path)
		if f.swipes == nil {
			f.swipes = map[int]int{}
		}
		_ = eachCommit(sidecar.Path, func(commit *luker.Commit) error { // judge reports the error
			if commit.Valid {
				f.swipes[commit.Floor] = noMessage
			}
			return nil
		})
	}
	return f
}

// take notes the chosen swipes of a batch's messages.
func (f *floors) take(swipes []int, shift int) {
	for i, swipe := range swipes {
		if _, named := f.swipes[shift+i]; named && shift+i >= 0 {
			f.swipes[shift+i] = swipe
		}
	}
}

// judge judges the logs against the messages.
func (f *floors) judge(c *Chat) {
	for _, path := range f.paths {
		report := func(id ID, message string) {
			c.add(Finding{Rule: id, Path: path, Index: noMessage, Message: message})
		}
		beyond, last, falls := 0, -1, 0
		err := eachCommit(path, func(commit *luker.Commit) error {
			if commit.Floor >= c.Messages {
				beyond++
			}
			if commit.Valid {
				if commit.Floor < last {
					falls++
				}
				last = max(last, commit.Floor)
			}
			return nil
		})
		if err != nil {
			message := reason(err)
			if unread := "the floor log cannot be read"; !strings.HasPrefix(message, unread) {
				message = unread + ": " + message
			}
			report(LukerFloor, message)
			continue
		}
		if beyond > 0 {
			report(LukerFloor, fmt.Sprintf("floors beyond the chat's last message: %d", beyond))
		}
		if falls > 0 {
			report(LukerState, fmt.Sprintf("commits of a message before that of the commit in front of them: %d", falls))
		}
		if broken, ok := errors.AsType[*luker.BrokenError](f.replay(path)); ok {
			report(LukerReplay, clip(broken.Error()))
		}
	}
}

// replay replays the commits of the chosen swipes.
func (f *floors) replay(path string) error {
	var replay luker.Replay
	entry := -1
	return eachCommit(path, func(commit *luker.Commit) error {
		entry++
		if swipe, ok := f.swipes[commit.Floor]; !commit.Valid || !ok || swipe != commit.Swipe {
			return nil
		}
		if err := replay.Apply(commit); err != nil {
			return &luker.BrokenError{Commit: entry, Floor: commit.Floor, Err: err}
		}
		return nil
	})
}

// eachCommit reads the floor log at path, a commit at a time.
func eachCommit(path string, each func(*luker.Commit) error) error {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		switch c, err := r.ReadByte(); {
		case err == nil && bytes.IndexByte([]byte(" \t\r\n"), c) >= 0:
			continue
		case err == nil && c != '{':
			return errNoObject
		case err == nil:
			_ = r.UnreadByte() // never fails behind ReadByte
			return luker.EachCommit(r, each)
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}

// errNoObject means that a floor log is not an object.
var errNoObject = errors.New("it is not an object")
