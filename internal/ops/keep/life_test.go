package keep

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// life is a user's folder whose chats live on at random, beside a slow model of it that keeps
// every file at every snapshot.
type life struct {
	*user
	rnd    *rand.Rand
	chats  []*livingChat
	serial int
	old    bool // branches inherit their parent's slug, as up to SillyTavern 1.18

	states []map[string]model // after each snapshot, by path
	times  []time.Time
	checks int
}

// livingChat is one chat, whatever its file is called.
type livingChat struct {
	id       int
	path     string
	slug     string
	main     string
	luker    bool // its slug changes at every save, and sidecars are beside it
	messages []string
	gone     bool
	touched  bool // since the last snapshot, so that it is not renamed and cut at once
}

// model is a file as it was: which chat, and its bytes.
type model struct {
	chat int
	data []byte
	was  string // what the chat was then
}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{user: newUser(t), rnd: rand.New(rand.NewPCG(seed, 1)), old: seed%4 == 3}
	for _, dir := range []string{"chats/Mira", "chats/Tomas", "group chats", "worlds", "groups"} {
		if err := os.MkdirAll(filepath.Join(l.root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		l.begin()
	}
	return l
}

func (l *life) next(what string) string {
	l.serial++
	return what + strconv.Itoa(l.serial)
}

// begin makes a new chat.
func (l *life) begin() *livingChat {
	dir := []string{"chats/Mira", "chats/Mira", "chats/Tomas", "group chats"}[l.rnd.IntN(4)]
	c := &livingChat{id: len(l.chats) + 1, path: path.Join(dir, l.next("chat ")+".jsonl"), touched: true}
	switch kind := l.rnd.IntN(6); {
	case kind == 0:
		c.luker = true
	case kind > 1:
		c.slug = l.next("slug-")
	}
	c.messages = []string{"The greeting of " + dir}
	l.chats = append(l.chats, c)
	l.say(c, 1+l.rnd.IntN(12))
	return c
}

// say adds messages, and saves.
func (l *life) say(c *livingChat, n int) {
	for range n {
		c.messages = append(c.messages, l.next("message "))
	}
	l.save(c)
}

func (l *life) save(c *livingChat) {
	if c.luker {
		c.slug = l.next("luker-")
	}
	var metadata []string
	if c.slug != "" {
		metadata = append(metadata, fmt.Sprintf(`"integrity":%q`, c.slug))
	}
	if c.main != "" {
		metadata = append(metadata, fmt.Sprintf(`"main_chat":%q`, c.main))
	}
	lines := []string{`{"chat_metadata":{` + strings.Join(metadata, ",") + `}}`}
	for i, m := range c.messages {
		lines = append(lines, fmt.Sprintf(`{"name":"x","is_user":%v,"mes":%q}`, i%2 == 1, m))
	}
	l.put(c.path, strings.Join(lines, "\n"))
	if c.luker {
		l.put(l.sidecar(c.path), fmt.Sprintf(`{"messages":%d}`, len(c.messages)))
	}
}

func (l *life) put(rel, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.root, filepath.FromSlash(rel)), []byte(text), 0o666); err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) sidecar(rel string) string {
	return strings.TrimSuffix(rel, ".jsonl") + ".luker-state.hp.json"
}

// move renames a chat's files.
func (l *life) move(c *livingChat, to string) {
	l.t.Helper()
	if err := os.Rename(filepath.Join(l.root, c.path), filepath.Join(l.root, to)); err != nil {
		l.t.Fatal(err)
	}
	if c.luker {
		if err := os.Rename(filepath.Join(l.root, l.sidecar(c.path)), filepath.Join(l.root, l.sidecar(to))); err != nil {
			l.t.Fatal(err)
		}
	}
	c.path, c.touched = to, true
}

func (l *life) remove(c *livingChat) {
	l.t.Helper()
	if err := os.Remove(filepath.Join(l.root, c.path)); err != nil {
		l.t.Fatal(err)
	}
	if c.luker {
		if err := os.Remove(filepath.Join(l.root, l.sidecar(c.path))); err != nil {
			l.t.Fatal(err)
		}
	}
	c.gone, c.touched = true, true
}

// pick returns a chat that lives and was not touched since the last snapshot; nil if there is none.
func (l *life) pick(wanted func(c *livingChat) bool) *livingChat {
	var list []*livingChat
	for _, c := range l.chats {
		if !c.gone && !c.touched && len(c.messages) > 3 && (wanted == nil || wanted(c)) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[l.rnd.IntN(len(list))]
}

// live does something to a chat, as SillyTavern's page or a person does.
func (l *life) live() string {
	c := l.pick(nil)
	if c == nil {
		l.begin()
		return "a new chat"
	}
	what := []string{"said", "said", "said", "edited", "rewound", "branched", "branched", "renamed", "renamed", "swapped", "deleted", "taken over", "new", "greeted", "moved", "saved first", "back", "copied name"}[l.rnd.IntN(18)]
	switch what {
	case "said":
		l.say(c, 1+l.rnd.IntN(3))
		c.touched = true
	case "edited":
		c.messages[1+l.rnd.IntN(len(c.messages)-2)] += ", edited"
		l.save(c)
	case "rewound":
		c.messages = c.messages[:len(c.messages)-1]
		c.touched = true
		l.say(c, 1)
	case "branched":
		b := &livingChat{id: len(l.chats) + 1, path: path.Join(path.Dir(c.path), l.next("branch ")+".jsonl"), main: strings.TrimSuffix(path.Base(c.path), ".jsonl"), luker: c.luker, touched: true}
		if c.slug != "" && !c.luker {
			if b.slug = l.next("slug-"); l.old {
				b.slug = c.slug
			}
		}
		b.messages = slices.Clone(c.messages[:2+l.rnd.IntN(len(c.messages)-1)])
		l.chats = append(l.chats, b)
		l.say(b, 1+l.rnd.IntN(3))
		if l.rnd.IntN(3) == 0 { // and the trunk, or a sibling, is deleted before the next snapshot
			if s := l.pick(func(s *livingChat) bool { return path.Dir(s.path) == path.Dir(b.path) && s != c }); s != nil {
				l.remove(s)
				l.joinFork(c, b, s)
				what += ", and another deleted"
			}
		}
	case "renamed":
		l.move(c, path.Join(path.Dir(c.path), l.next("renamed ")+".jsonl"))
		if l.rnd.IntN(2) == 0 {
			l.say(c, 1)
		}
	case "moved":
		if c.luker {
			return "nothing"
		}
		l.move(c, path.Join([]string{"chats/Mira", "chats/Tomas"}[l.rnd.IntN(2)], l.next("moved ")+".jsonl"))
	case "swapped":
		d := l.pick(func(d *livingChat) bool { return d != c && d.luker == c.luker })
		if d == nil {
			return "nothing"
		}
		a, b := c.path, d.path
		l.move(c, path.Join(path.Dir(a), "between.jsonl"))
		l.move(d, a)
		l.move(c, b)
	case "deleted":
		l.remove(c)
	case "taken over": // a chat is deleted, and another gets its name
		d := l.pick(func(d *livingChat) bool { return d != c && d.luker == c.luker && path.Dir(d.path) == path.Dir(c.path) })
		if d == nil {
			return "nothing"
		}
		l.remove(c)
		l.move(d, c.path)
	case "new":
		l.begin()
	case "greeted": // the greeting is written over it
		if !c.luker {
			c.slug = l.next("slug-")
		}
		c.messages, c.touched = c.messages[:1], true
		l.save(c)
	case "saved first": // SillyTavern gives an import its slug
		if c.slug != "" || c.luker {
			return "nothing"
		}
		c.slug, c.touched = l.next("slug-"), true
		l.say(c, 1)
	case "back": // one that was gone is put back as it was
		for _, d := range l.chats {
			if _, err := os.Lstat(filepath.Join(l.root, d.path)); d.gone && !d.touched && err != nil && !d.luker && len(d.messages) > 2 {
				d.gone, d.touched = false, true
				l.save(d)
				return what
			}
		}
	case "copied name": // a new chat with the name of one that is gone
		for _, d := range l.chats {
			if _, err := os.Lstat(filepath.Join(l.root, d.path)); d.gone && !d.touched && err != nil && !d.luker {
				n := l.begin()
				if n.luker {
					return "a new chat"
				}
				l.move(n, d.path)
				l.joinLeft(n)
				return what
			}
		}
	}
	return what
}

// joinLeft takes a new chat for the one that left its path since the last snapshot, if there is
// one. Nothing on the disk tells them apart: the greeting that SillyTavern writes over a chat
// has a new slug, too, and whoever goes on from there leaves the same bytes. lost
// decides for one chat, so its loss is told as that of a chat that was written over. Only
// where the new one has a slug and begins in another way is it a stranger.
func (l *life) joinLeft(n *livingChat) {
	i := slices.IndexFunc(l.chats, func(c *livingChat) bool { return c != n && c.gone && c.touched && c.path == n.path })
	if i < 0 {
		return
	}
	c := l.chats[i]
	if c.slug != "" && !c.luker && n.slug != "" && c.messages[0] != n.messages[0] {
		return
	}
	c.slug, c.main, c.luker, c.messages, c.gone = n.slug, n.main, n.luker, n.messages, false
	l.chats = slices.DeleteFunc(l.chats, func(c *livingChat) bool { return c == n })
}

// joinFork takes a new branch of a chat for its older branch that was deleted, where they differ in
// the last message of that one alone, and no slug tells: that may as well have been renamed,
// its last message regenerated, and continued.
func (l *life) joinFork(of, b, gone *livingChat) {
	n := len(gone.messages) - 1
	if b.slug != "" && !b.luker || gone.slug != "" && !gone.luker || b.luker != gone.luker || b.main != gone.main || len(b.messages) <= n || !slices.Equal(b.messages[:n], gone.messages[:n]) || slices.Contains(of.messages, b.messages[n]) {
		return
	}
	gone.path, gone.slug, gone.messages, gone.gone = b.path, b.slug, b.messages, false
	l.chats = l.chats[:len(l.chats)-1]
}

// snapshot takes one, and keeps what there is.
func (l *life) keep() {
	l.t.Helper()
	l.put("worlds/Book.json", fmt.Sprintf(`{"entries":{"%d":{}}}`, l.rnd.IntN(3)))
	l.put("groups/1.json", fmt.Sprintf(`{"chats":["%d"]}`, l.rnd.IntN(3)))
	at := l.now
	l.snapshot()
	state := map[string]model{}
	for _, c := range l.chats {
		if c.touched = false; !c.gone {
			state[c.path] = model{c.id, l.read(c.path), l.describe(c.id)}
			if c.luker {
				state[l.sidecar(c.path)] = model{data: l.read(l.sidecar(c.path))}
			}
		}
	}
	for _, rel := range []string{"worlds/Book.json", "groups/1.json"} {
		state[rel] = model{data: l.read(rel)}
	}
	l.states, l.times = append(l.states, state), append(l.times, at)
}

func (l *life) read(rel string) []byte {
	return read(l.t, filepath.Join(l.root, filepath.FromSlash(rel)))
}

// check reports what is not as the model has it.
func (l *life) check(ok bool, format string, args ...any) {
	l.t.Helper()
	if l.checks++; !ok {
		l.t.Errorf(format, args...)
	}
}

// compare asks for everything that was, by every name and time.
func (l *life) compare(did [][]string) {
	l.t.Helper()
	opt := Where{Chat: l.root, Now: l.now}
	f, err := openFolder(l.t.Context(), opt)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = f.store.Close() }() // it was only read
	known, named := map[int64]int{}, map[int]int64{}
	every := map[string]bool{}
	for i, state := range l.states {
		list, err := f.asOf(l.t.Context(), l.times[i])
		if err != nil {
			l.t.Fatal(err)
		}
		var paths, want []string
		for rel := range state {
			want = append(want, rel)
			every[rel] = true
		}
		slices.Sort(want)
		for _, k := range list {
			paths = append(paths, k.rel)
			m := state[k.rel]
			var b bytes.Buffer
			err := f.store.WriteTo(l.t.Context(), &b, &k.version)
			l.check(err == nil && k.Exact && bytes.Equal(b.Bytes(), m.data), "snapshot %d: %s has other bytes: %v", i, k.rel, err)
			if m.chat == 0 {
				continue
			}
			id := k.version.Chat
			l.check((known[id] == 0 || known[id] == m.chat) && (named[m.chat] == 0 || named[m.chat] == id),
				"snapshot %d: %s is chat %d of the store, which was %d; it is %d, which was %d of the store; since the last: %v; %s", i, k.rel, id, known[id], m.chat, named[m.chat], did[i], m.was)
			known[id], named[m.chat] = m.chat, id
		}
		l.check(slices.Equal(paths, want), "snapshot %d: files %v, want %v", i, paths, want)
	}
	for rel := range every {
		for i, state := range l.states {
			l.compareOne(rel, i, state)
		}
	}
	gone := map[string]bool{}
	for _, path := range goneFrom(l.t, opt) {
		for _, c := range l.chats {
			if c.gone && named[c.id] != 0 && withoutExtension(c.path) == l.rel(path) {
				gone[c.path] = true
			}
		}
	}
	for _, c := range l.chats {
		l.check(!c.gone || named[c.id] == 0 || gone[c.path], "%s is gone, and not said to be", c.path)
	}
}

func (l *life) describe(id int) string {
	c := l.chats[id-1]
	return fmt.Sprintf("slug %q, luker %v, main %q, %d messages, old %v", c.slug, c.luker, c.main, len(c.messages), l.old)
}

func (l *life) rel(full string) string {
	rel, err := filepath.Rel(l.root, full)
	if err != nil {
		l.t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// compareOne asks for one path at one time.
func (l *life) compareOne(rel string, i int, state map[string]model) {
	l.t.Helper()
	s, err := openSubject(l.t.Context(), Where{Chat: filepath.Join(l.root, filepath.FromSlash(rel)), Now: l.now, Pick: Pick{AsOf: l.times[i]}})
	defer s.close()
	m, there := state[rel]
	if !there {
		l.check(errors.Is(err, ErrNobody), "snapshot %d: %s was not there, and there is %v", i, rel, err)
		return
	}
	if err != nil {
		l.check(false, "snapshot %d: %s: %v", i, rel, err)
		return
	}
	v, err := s.pick(l.t.Context(), Pick{AsOf: l.times[i]}, true)
	if err != nil {
		l.check(false, "snapshot %d: %s: %v", i, rel, err)
		return
	}
	var b bytes.Buffer
	err = s.write(l.t.Context(), v, &b)
	l.check(err == nil && bytes.Equal(b.Bytes(), m.data), "snapshot %d: %s has other bytes: %v", i, rel, err)
	again, err := s.pick(l.t.Context(), Pick{Rev: v.Rev}, false)
	l.check(err == nil && again.Rev == v.Rev, "%s, version %d: %v", rel, v.Rev, err)
}

// seeds yields the seeds of the folders that are tried: as many as STCHAT_LIVES says, which it notes
// in lives, from STCHAT_FIRST on.
func seeds(lives *int) iter.Seq[uint64] {
	if n, err := strconv.Atoi(os.Getenv("STCHAT_LIVES")); err == nil {
		*lives = n
	}
	first, _ := strconv.Atoi(os.Getenv("STCHAT_FIRST")) // else from 0
	return func(yield func(uint64) bool) {
		for i := range *lives {
			if !yield(uint64(first + i)) {
				return
			}
		}
	}
}

// A folder lives on at random; everything that it ever held comes back, by every name that it
// had and as of every time, and every chat is the same one throughout.
func TestLives(t *testing.T) {
	lives := 8
	if testing.Short() {
		lives = 1
	}
	checks := 0
	for seed := range seeds(&lives) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newLife(t, seed)
			did := [][]string{nil}
			l.keep()
			for range 12 {
				var what []string
				for range 1 + l.rnd.IntN(5) {
					what = append(what, l.live())
				}
				did = append(did, what)
				l.keep()
			}
			l.compare(did)
			checks += l.checks
		})
	}
	t.Logf("%d lives, %d checks", lives, checks)
}
