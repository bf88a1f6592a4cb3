package luker

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/visible"
)

// Beside tells which sidecars a chat that is judged has, before its messages are read. Which
// messages floor logs name is read here, so the memory follows the logs, not the chat's length.
func (e *Extension) Beside(sidecars []Sidecar) {
	e.sidecars, e.swipes = sidecars, map[int]int{}
	for _, s := range sidecars {
		if s.Kind == FloorLog {
			_ = readLog(s.Path, func(r io.Reader) error { // Judge reports the error
				return EachCommit(r, func(c *Commit) error {
					if c.Valid {
						e.swipes[c.Floor] = -1 // not read yet
					}
					return nil
				})
			})
		}
	}
}

// Sight sees which swipe is chosen, if there are floor logs.
func (e *Extension) Sight(s *extension.Sighting) {
	if len(e.swipes) > 0 {
		s.See(strconv.Itoa(Swipe(s.Swipe)), nil)
	}
}

// Sighted notes the chosen swipe of a message that floor logs name.
func (e *Extension) Sighted(i int, id string) (rule, fault string) {
	if _, named := e.swipes[i]; named {
		e.swipes[i], _ = strconv.Atoi(id) // of Sight
	}
	return "", ""
}

// Judge judges the sidecars (FORMATS.md A1, A2): first floor logs against the messages, then
// whether the others can be read.
func (e *Extension) Judge(j *extension.Judging) {
	find := func(s Sidecar) func(rule, message, byHand string) {
		return func(rule, message, byHand string) {
			j.Find(extension.Finding{Rule: rule, Path: s.Path, Message: message, ByHand: byHand, Whole: true})
		}
	}

	logged := map[string]bool{} // namespaces that have a log
	for _, s := range e.sidecars {
		if s.Kind == FloorLog {
			logged[DataOf(s.Namespace)] = true
			if err := e.judgeLog(s.Path, j.Messages, find(s)); err != nil {
				j.Find(unreadLog(s.Path, err))
			}
		}
	}

	for _, s := range e.sidecars {
		switch s.Kind {
		case FloorLog:
		case ChatSync:
			judgeSync(j, s.Path)
		default:
			if _, damage := readSidecar(s.Path); damage != "" {
				find(s)("luker-state", "Luker's file cannot be read: "+damage, "")
			}
			if logged[s.Namespace] {
				find(s)("luker-state", "data beside its own log, which is what counts", "")
			}
		}
	}
}

// unreadLog is the finding that a floor log cannot be read.
func unreadLog(path string, err error) extension.Finding {
	message := extension.Reason(err)
	if unread := "the log of Luker cannot be read"; !strings.HasPrefix(message, unread) {
		message = unread + ": " + message
	}
	f := extension.Finding{Rule: "luker-floor", Path: path, Message: message, ByHand: "correct the file by hand", Whole: true}
	if system, ok := errors.AsType[*fs.PathError](err); ok {
		f.Err = system
	}
	return f
}

// judgeLog judges a floor log. The error is that it cannot be read.
func (e *Extension) judgeLog(path string, messages int, find func(rule, message, byHand string)) error {
	beyond := 0
	last := -1
	falls := 0
	err := readLog(path, func(r io.Reader) error {
		return EachCommit(r, func(c *Commit) error {
			if c.Floor >= messages {
				beyond++
			}
			if c.Valid {
				if c.Floor < last {
					falls++
				}
				last = max(last, c.Floor)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}

	if beyond > 0 {
		find("luker-floor", fmt.Sprintf("messages beyond the chat's last one in Luker's log: %d", beyond), "")
	}
	if falls > 0 {
		find("luker-state", fmt.Sprintf("commits of a message before that of the commit in front of them: %d", falls), "")
	}
	var replay Replay
	err = readLog(path, func(r io.Reader) error { return replay.Log(r, e.counts) })
	if broken, ok := errors.AsType[*BrokenError](err); ok {
		find("luker-replay", visible.Brief(broken.Error()), "")
	}
	return nil
}

// counts reports whether a commit is of the chosen swipe of a message.
func (e *Extension) counts(c *Commit) bool {
	swipe, ok := e.swipes[c.Floor]
	return ok && swipe == c.Swipe
}

// readLog opens the floor log at path, which must be an object, for read.
func readLog(path string, read func(r io.Reader) error) error {
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
			return errors.New("it is not an object")
		case err == nil:
			_ = r.UnreadByte() // never fails behind ReadByte
			return read(r)
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}

// judgeSync judges whether Luker's sidecar has a slug. It need not be the header's: what appends a
// message renews only this one, and other endpoints only the header's.
func judgeSync(j *extension.Judging, path string) {
	message := "Luker's chat_sync has no integrity"
	raw, damage := readSidecar(path)
	if _, ok := rawjson.Unquote(rawjson.Value(raw, "integrity")); ok && damage == "" {
		return
	}
	if damage != "" {
		message = "Luker's chat_sync cannot be read: " + damage
	}
	j.Find(extension.Finding{Rule: "luker-slug", Message: message, Whole: true})
}

// JudgeCharacters judges the state that Luker keeps beside the characters' cards in a folder
// (FORMATS.md A1.3).
func JudgeCharacters(folder string, find func(f extension.Finding)) {
	entries, _ := os.ReadDir(folder)
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		stems := Stems(e.Name())
		if len(stems) == 0 || !e.Type().IsRegular() {
			continue
		}
		f := extension.Finding{Rule: "luker-state", Path: filepath.Join(folder, e.Name())}
		if !slices.ContainsFunc(stems, func(stem string) bool { return names[stem+userdir.CardExtension] || names[stem+fileEnd] }) {
			f.Message = "its character's card is not there"
			find(f)
		}
		if _, damage := readSidecar(f.Path); damage != "" {
			f.Message = "the state cannot be read: " + damage
			find(f)
		}
	}
}

// readSidecar reads a sidecar, which must be one JSON object; damage is why it cannot.
func readSidecar(path string) (_ []byte, damage string) {
	raw, _, err := safefile.Read(path)
	switch {
	case errors.Is(err, safefile.ErrNotRegular):
		return nil, "not a regular file"
	case err != nil:
		return nil, extension.Reason(err)
	}

	if d := jsonl.Check(raw); d != nil {
		return nil, d.Reason
	}
	if kind := rawjson.KindOf(raw); kind != rawjson.ObjectKind {
		return nil, kind.String() + ", not an object"
	}
	return raw, ""
}
