package keep

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stchat/internal/change/changeset"
	"stchat/internal/history/lost"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/choose"
)

// saidMessage is a message of a chat that lives: what it says tells which it is.
type saidMessage struct {
	Name   string   `json:"name"`
	User   bool     `json:"is_user"`
	Date   string   `json:"send_date"`
	Text   string   `json:"mes"`
	Chosen int      `json:"swipe_id"`
	Swipes []string `json:"swipes,omitempty"`
}

const theGreeting = "The greeting"

// told is the life of a chat, of which others keep what it was.
type told struct {
	*testing.T
	rnd      *rand.Rand
	root     string
	path     string
	slug     int
	now      time.Time
	messages []*saidMessage
	next     int       // the number of the next text
	kept     []*source // the newest last
}

// source is what somebody keeps of the chat.
type source struct {
	messages [][]string // the texts of each
	file     bool       // it is a file, and nothing but what it says tells whose that is
	slug     int
}

func newTold(t *testing.T, seed uint64) *told {
	l := &told{T: t, rnd: rand.New(rand.NewPCG(seed, 7)), root: t.TempDir(), now: time.Date(2026, 3, 1, 18, 0, 0, 0, time.Local)}
	l.path = filepath.Join(l.root, "chats", "Mira", "A.jsonl")
	for _, folder := range []string{filepath.Dir(l.path), filepath.Join(l.root, "backups")} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	l.begin()
	return l
}

// fresh returns a text that nobody said yet.
func (l *told) fresh(what string) string {
	l.next++
	return fmt.Sprintf("%s %d", what, l.next)
}

func (l *told) date() string {
	l.now = l.now.Add(time.Minute)
	return l.now.UTC().Format("2006-01-02T15:04:05.000Z")
}

// begin writes the greeting over the chat.
func (l *told) begin() {
	l.slug++
	l.messages = []*saidMessage{{Name: "Mira", Date: l.date(), Text: theGreeting}}
}

func (l *told) say(user bool) {
	m := &saidMessage{Name: "Mira", User: user, Date: l.date(), Text: l.fresh("reply")}
	if user {
		m.Name, m.Text = "Tom", l.fresh("word")
	}
	l.messages = append(l.messages, m)
}

// any returns the number of a message behind the greeting.
func (l *told) any() int { return 1 + l.rnd.IntN(len(l.messages)-1) }

// live does something to the chat, as the page does.
func (l *told) live() {
	if len(l.messages) < 3 {
		l.say(true)
		l.say(false)
		return
	}
	at := l.any()
	m := l.messages[at]
	reply := l.messages[at-1+l.rnd.IntN(2)] // also the greeting
	switch l.rnd.IntN(14) {
	case 0:
		l.messages = slices.Delete(l.messages, at, at+1)
	case 1: // several, or all from there on
		l.messages = slices.Delete(l.messages, at, min(at+1+l.rnd.IntN(4), len(l.messages)))
	case 2:
		m.Text = l.fresh("edit")
		if m.Swipes != nil {
			m.Swipes = slices.Clone(m.Swipes)
			m.Swipes[m.Chosen] = m.Text
		}
	case 3, 4, 5:
		l.swipe(reply)
	case 6, 7:
		for _, m := range l.messages {
			if len(m.Swipes) > 1 && l.rnd.IntN(2) == 0 {
				l.dropSwipe(m)
			}
		}
	case 8:
		if l.rnd.IntN(4) == 0 {
			l.begin()
		}
	default:
		l.say(true)
		l.say(false)
	}
}

// swipe adds a swipe to a reply.
func (l *told) swipe(m *saidMessage) {
	if m.User {
		return
	}
	if m.Swipes == nil {
		m.Swipes = []string{m.Text}
	}
	text := l.fresh("swipe")
	m.Swipes = append(slices.Clone(m.Swipes), text)
	if m.Text == theGreeting {
		return // by what that shows two chats of one path are known to be one
	}
	m.Text = text
	m.Date = l.date()
	m.Chosen = len(m.Swipes) - 1
}

// dropSwipe deletes a swipe of a reply that has several, but not the greeting.
func (l *told) dropSwipe(m *saidMessage) {
	k := l.rnd.IntN(len(m.Swipes))
	if m.Swipes[k] == theGreeting {
		return
	}
	m.Swipes = slices.Delete(slices.Clone(m.Swipes), k, k+1)
	if m.Text == theGreeting {
		return
	}
	m.Chosen = min(k, len(m.Swipes)-1)
	m.Text = m.Swipes[m.Chosen]
}

// bytes returns the chat's file.
func (l *told) bytes() []byte {
	b := fmt.Appendf(nil, `{"chat_metadata":{"integrity":"%08d-2222-4333-8444-555555555555"},"user_name":"unused","character_name":"unused"}`+"\n", l.slug)
	for _, m := range l.messages {
		line, err := json.Marshal(m)
		if err != nil {
			l.Fatal(err)
		}
		b = append(append(b, line...), '\n')
	}
	return b
}

// save writes the chat, and keeps what it is in one of the places in which stchat looks.
func (l *told) save() {
	if err := os.WriteFile(l.path, l.bytes(), 0o666); err != nil {
		l.Fatal(err)
	}
	l.now = l.now.Add(time.Minute)
	isFile := false
	switch l.rnd.IntN(4) {
	case 0:
		return // nobody noticed
	case 1:
		isFile = true
		name := "chat_mira_" + l.now.Format("20060102-150405") + ".jsonl"
		if err := os.WriteFile(filepath.Join(l.root, "backups", name), l.bytes(), 0o666); err != nil {
			l.Fatal(err)
		}
	case 2:
		opt := SnapshotOptions{List: ops.List{Paths: []string{l.root}}, Now: l.now, Each: func(Taken) error { return nil }}
		if _, err := Snapshot(l.Context(), opt); err != nil {
			l.Fatal(err)
		}
	case 3: // what stchat edits, it keeps
		if len(l.messages) < 3 {
			return
		}
		at := l.any()
		r := edit.Delete(l.Context(), edit.DeleteOptions{
			Options: edit.Options{Chats: []string{l.path}, Terms: edit.Terms{ExpectMessages: -1, Changes: changeset.Options{Now: l.now, NoSync: true}}},
			Choice:  choose.Choice{Ranges: []choose.Range{{From: at, To: at}}},
		})
		if r[0].Err != nil {
			l.Fatal(r[0].Err)
		}
		l.keep(true)
		l.messages = slices.Delete(l.messages, at, at+1)
		return
	}
	l.keep(isFile)
}

// keep notes what a source has.
func (l *told) keep(file bool) {
	s := &source{file: file, slug: l.slug}
	for _, m := range l.messages {
		s.messages = append(s.messages, m.texts())
	}
	l.kept = append(l.kept, s)
}

// texts returns what a message says, and its other swipes.
func (m *saidMessage) texts() []string {
	if m.Swipes == nil {
		return []string{m.Text}
	}
	return m.Swipes
}

// lost returns what the chat has lost.
func (l *told) lost() *LostResult {
	l.Helper()
	res, err := Lost(l.Context(), LostOptions{List: ops.List{Paths: []string{l.path}}, Now: l.now})
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(res.Close)
	for _, err := range res.Errs {
		if len(l.kept) > 0 {
			l.Fatal(err)
		}
	}
	return res
}

// read reads the chat anew.
func (l *told) read() (list []*saidMessage) {
	data, err := os.ReadFile(l.path)
	if err != nil {
		l.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		m := new(saidMessage)
		if err := json.Unmarshal([]byte(line), m); err != nil {
			l.Fatal(err)
		}
		if m.Text != "" {
			list = append(list, m)
		}
	}
	return list
}

// left are the wordings that stay where they are: those that are no swipes.
func left(in *LostIn, asSwipe bool) (list []string) {
	for _, item := range in.Items {
		if !in.GoesBack(item, asSwipe) {
			if item.Kind != lost.Wording || asSwipe && !item.isUser {
				list = append(list, "not a wording: "+item.Text)
			}
			list = append(list, item.Text)
		}
	}
	slices.Sort(list)
	return list
}

// putBack puts back all that is lost, and compares what comes of it with what the sources have.
func (l *told) putBack(asSwipe bool) (messages, swipes int) {
	l.Helper()
	before, err := os.ReadFile(l.path)
	if err != nil {
		l.Fatal(err)
	}
	wasThere := l.read()
	res := l.lost()
	if len(res.Named) == 0 {
		return 0, 0
	}
	in := res.Named[0]
	stays := left(in, asSwipe)
	terms := edit.Terms{ExpectMessages: -1, Changes: changeset.Options{Now: l.now.Add(time.Minute), NoSync: true, Command: []string{"lost", "--restore"}}}
	r := PutBack(l.Context(), res.Named, asSwipe, terms)
	if r[0].Err != nil {
		l.Fatal(r[0].Err)
	}

	at := map[string]int{} // where each text is
	now := l.read()
	for i, m := range now {
		for _, text := range m.texts() {
			if _, twice := at[text]; twice {
				l.Errorf("%q is there twice", text)
			}
			at[text] = i
		}
		if !slices.Contains(m.texts(), m.Text) {
			l.Errorf("message %d shows %q, which is none of its swipes", i, m.Text)
		}
	}
	l.comparesWith(at, stays)
	l.comparePlain(wasThere, now)

	var again []string
	for _, item := range l.lost().Named[0].Items {
		if l.isKept(item.Text) {
			again = append(again, item.Text)
		}
	}
	slices.Sort(again)
	stays = slices.DeleteFunc(stays, func(text string) bool { return !l.isKept(text) })
	if diff := cmp.Diff(stays, again, cmpopts.EquateEmpty()); diff != "" {
		l.Errorf("what is lost afterwards (-want +got):\n%s", diff)
	}
	l.undo(before, r[0].Doc.DidWrite)
	messages, swipes, _ = in.Count()
	return messages, swipes
}

// isForeign reports whether a source is a file of a chat over which a greeting was written since. It may
// be of another chat, unless much of it is there.
func (l *told) isForeign(s *source) bool { return s.file && s.slug != l.slug }

// isKept reports whether a source that is surely the chat's has a text.
func (l *told) isKept(text string) bool {
	return slices.ContainsFunc(l.kept, func(s *source) bool {
		has := func(texts []string) bool { return slices.Contains(texts, text) }
		return !l.isForeign(s) && slices.ContainsFunc(s.messages, has)
	})
}

// comparesWith compares where texts are with the sources: each text of each is there, or stays with them;
// and of two messages of a source the second does not stand before the first.
func (l *told) comparesWith(at map[string]int, stays []string) {
	for n, source := range l.kept {
		if l.isForeign(source) {
			continue
		}
		last, lastText := -1, ""
		for _, texts := range source.messages {
			for _, text := range texts {
				i, isThere := at[text]
				if isThere == slices.Contains(stays, text) {
					l.Errorf("source %d has %q: there is %v, stays is %v", n, text, isThere, !isThere)
				}
				if !isThere {
					continue
				}
				if i < last {
					l.Errorf("source %d: %q is behind %q, and not the other way round", n, lastText, text)
				}
				last, lastText = i, text
			}
		}
	}
}

// comparePlain holds that what was there is still there, in its order, with its text.
func (l *told) comparePlain(was, now []*saidMessage) {
	var texts []string
	known := map[string]bool{}
	for _, m := range was {
		known[m.Text] = true
	}
	for _, m := range now {
		if known[m.Text] {
			texts = append(texts, m.Text)
		}
	}
	var want []string
	for _, m := range was {
		want = append(want, m.Text)
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		l.Errorf("what was there (-want +got):\n%s", diff)
	}
}

// undo takes back what was put back.
func (l *told) undo(before []byte, wrote bool) {
	if wrote {
		u, err := changeset.Undo(l.root, "", false)
		if err != nil {
			l.Fatal(err)
		}
		out := changeset.Run(l.Context(), []changeset.Unit{u.Unit}, changeset.Options{Now: l.now.Add(time.Hour), NoSync: true})
		if out[0].Err != nil {
			l.Fatal(out[0].Err)
		}
	}
	after, err := os.ReadFile(l.path)
	if err != nil {
		l.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		l.Errorf("after undo (-want +got):\n%s", diff)
	}
}

// TestPutBack: every message and every swipe that some source still has comes back at its place, nothing
// twice, and undo takes it away to the byte.
func TestPutBack(t *testing.T) {
	lives := 40
	if testing.Short() {
		lives = 10
	}
	sum := map[string]int{}
	for seed := range uint64(lives) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newTold(t, seed)
			for range 12 {
				for range 1 + l.rnd.IntN(4) {
					l.live()
				}
				l.save()
			}
			for _, asSwipe := range []bool{false, true} {
				messages, swipes := l.putBack(asSwipe)
				sum["messages"] += messages
				sum["swipes"] += swipes
				if t.Failed() {
					t.Logf("the chat:\n%s", l.bytes())
					for i, source := range l.kept {
						t.Logf("source %d: %v %q", i, *source, source.messages)
					}
					t.FailNow()
				}
			}
		})
	}
	t.Log(sum)
	if sum["messages"] < lives*5 || sum["swipes"] < lives {
		t.Errorf("too little was lost in %d lives: %v", lives, sum)
	}
}
