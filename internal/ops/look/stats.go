package look

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
	"stchat/internal/text/words"
)

// By is what messages are counted by.
type By string

// Bys returns all of them.
func Bys() []By {
	return []By{"owner", "chat", "name", "role", "model", "day", "week", "month", "weekday", "hour"}
}

// IsTime reports whether rows are in the order of time.
func (b By) IsTime() bool {
	return slices.Contains([]By{"day", "week", "month", "weekday", "hour"}, b)
}

// sessionGap is how long nothing is written where a session ends.
const sessionGap = time.Hour

// StatsOptions says which messages are counted, and how.
type StatsOptions struct {
	List   ops.List
	Choice choose.Choice // without ranges
	Open   chat.Options
	By     By
	Every  bool // count every copy of a message, not each once an owner
	Zone   *time.Location
	Meter  *progress.Meter
}

// Counts is what some messages add up to.
type Counts struct {
	Chats      int     `json:"chats"`
	Messages   int     `json:"messages"`
	Words      int     `json:"words"`
	UserWords  int     `json:"user_words"`
	Swipes     int     `json:"swipes"` // those stored beside the shown one
	Swiped     int     `json:"swiped"` // messages with more than one
	Tokens     int     `json:"tokens"`
	GenMS      int64   `json:"gen_ms"`
	GenLeftOut int     `json:"gen_left_out"` // times that cannot be
	FirstDate  *string `json:"first_date"`
	LastDate   *string `json:"last_date"`
	Days       int     `json:"days"`    // with a message
	TimeMS     int64   `json:"time_ms"` // that was spent: see [Sessions]

	First, Last time.Time `json:"-"`
}

// Tally is what was counted of some messages: a document of stats.
type Tally struct {
	Schema int    `json:"schema"`
	By     By     `json:"by"`
	Key    string `json:"key"`
	Counts

	days map[int32]bool // since 1970, of the local calendar
}

// Statistics is what all messages add up to: the last document of stats.
type Statistics struct {
	Schema  int  `json:"schema"`
	Summary bool `json:"summary"` // true
	Counts
	Counted  string   `json:"counted"` // distinct or all
	Streak   *Streak  `json:"streak"`
	BestDay  *BestDay `json:"best_day"`
	Sessions Sessions `json:"sessions"`
	Hours    []int    `json:"hours"` // messages, of each hour of the local day
	Undated  int      `json:"undated"`

	Daily  map[int32]int `json:"-"` // words of days since 1970
	Rows   []*Tally      `json:"-"`
	Errs   []error       `json:"-"`
	Damage []ChatDamage  `json:"-"`
	dated  []datedMessage
}

// datedMessage is what sessions are made of.
type datedMessage struct {
	date int64  // ms since 1970
	row  *Tally // that counts it
}

// ChatDamage are the damaged lines of a chat, which are not counted.
type ChatDamage struct {
	Path   string
	Damage jsonl.Damages
}

// Streak is the most days in a row with a message.
type Streak struct {
	Days int    `json:"days"`
	From string `json:"from"`
	To   string `json:"to"`
}

// BestDay is the day with the most words.
type BestDay struct {
	Day   string `json:"day"`
	Words int    `json:"words"`
}

// Sessions are stretches of time without a gap, each from its first message to its last. The time that was spent
// is the sum of them. Of a session each message has the time since the one before it, so that a session in which
// several rows take turns is divided among them.
type Sessions struct {
	Count          int   `json:"count"`
	MedianMS       int64 `json:"median_ms"`
	MedianMessages int   `json:"median_messages"`
}

// said is what is counted of one message.
type said struct {
	id     message.ID
	date   int64 // ms since 1970; noDate: none
	words  int32
	tokens int32
	swipes int32
	gen    int32 // ms; -1: it cannot be
	user   bool
	counts bool
	name   string
	model  string
	role   message.Who
}

const noDate = -1 << 63

// Stats counts the messages of chats. Those of the system that are no story are not counted.
func Stats(ctx context.Context, opt StatsOptions) (*Statistics, error) {
	s := &statistician{opt: &opt, lib: new(library.Library), seed: message.NewSeed(), keys: map[string]*Tally{}}
	s.sum = &Statistics{Schema: 1, Summary: true, Counted: "distinct", Hours: make([]int, 24), Daily: map[int32]int{}}
	if opt.Every {
		s.sum.Counted = "all"
	}
	s.all.days = map[int32]bool{}
	opt.Open.Any, opt.Open.Groups = true, s.lib
	walked := ops.Walk(opt.List)
	s.sum.Errs = walked.Errors()
	for _, t := range walked.Chats {
		opt.Meter.Expect(1, t.Size)
	}
	if err := s.folders(ctx, walked); err != nil {
		return s.sum, err
	}
	s.finish()
	return s.sum, nil
}

// statistician counts.
type statistician struct {
	opt  *StatsOptions
	lib  *library.Library
	seed message.Seed

	mu   sync.Mutex // of what follows
	sum  *Statistics
	all  Tally
	keys map[string]*Tally
}

// folder is a folder with chats, of an owner or of all groups.
type folder struct {
	path   string
	chats  []string
	large  bool // has a chat that is read with all processors
	errs   []error
	damage []ChatDamage
}

// folders counts the chats of all folders, several at once: a message counts once an owner, so
// none depends on another.
func (s *statistician) folders(ctx context.Context, walked ops.Walked) error {
	by := map[string]*folder{}
	var all []*folder
	for _, t := range walked.Chats {
		path := filepath.Dir(t.Path)
		f := by[path]
		if f == nil {
			f = &folder{path: path}
			by[path], all = f, append(all, f)
		}
		f.chats = append(f.chats, t.Path)
		f.large = f.large || t.Size >= ops.LargeChat
	}

	progress.SmallFirst(ctx, len(all), nil, func() struct{} { return struct{}{} }, func(_ struct{}, i int, small bool) (done bool) {
		if all[i].large && small {
			return false
		}
		s.folder(ctx, all[i])
		return true
	})

	for _, f := range all {
		s.sum.Errs, s.sum.Damage = append(s.sum.Errs, f.errs...), append(s.sum.Damage, f.damage...)
	}
	return ctx.Err()
}

// folder counts the chats of a folder: parents before what was made from them, so that a copy is
// never counted for the original.
func (s *statistician) folder(ctx context.Context, f *folder) {
	if !s.opt.Every && len(f.chats) > 1 {
		s.eldestFirst(ctx, f)
	}
	seen := map[string]map[message.ID]int32{} // by owner: how often a message was counted
	for _, path := range f.chats {
		if ctx.Err() != nil {
			return
		}
		s.read(ctx, f, path, seen)
		s.opt.Meter.Done()
	}
}

// eldestFirst sorts the chats of a folder: every chat behind its ancestors, else by name. Of a chat
// that cannot be read the reading tells.
func (s *statistician) eldestFirst(ctx context.Context, f *folder) {
	graphs, _ := family.Read(ctx, s.lib, []string{f.path}, family.Options{})
	depth := map[string]int{}
	for _, g := range graphs {
		for _, root := range g.Roots() {
			family.Walk(root, func(c *family.Chat, d int) { depth[filepath.Base(c.Path)] = d })
		}
	}
	slices.SortStableFunc(f.chats, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth[filepath.Base(a)], depth[filepath.Base(b)]), strings.Compare(a, b))
	})
}

// reading is what a batch of lines says.
type reading struct {
	list []said
	ids  *message.Identifier
}

func (s *statistician) read(ctx context.Context, f *folder, path string, seen map[string]map[message.ID]int32) {
	c, err := ops.Open(ctx, s.lib, path, ops.Anything, s.opt.Open)
	if err != nil {
		f.errs = append(f.errs, err)
		return
	}
	defer c.Close()
	owner := c.Owner
	if c.Kind == userdir.File {
		owner = filepath.Base(filepath.Dir(userdir.RealPath(path)))
	}
	if seen[owner] == nil {
		seen[owner] = map[message.ID]int32{}
	}
	of := &counting{statistician: s, owner: owner, name: owner + "/" + c.Name, seen: seen[owner], here: map[message.ID]int32{}, told: map[*Tally]bool{}}
	var batch []said
	base := 0
	scanned, err := choose.ScanBeside(ctx, &s.opt.Choice, choose.Source{Source: c.Source, Body: c.Body, Line: c.BodyLine, Progress: s.opt.Meter.Follow()}, func(at choose.Place) error {
		of.count(&batch[at.Index-base])
		return nil
	}, choose.Beside[reading]{
		Keys: []string{"name", "is_user", "mes", "send_date", "is_system", "swipes", "gen_started", "gen_finished", "extra"},
		Read: func(l *jsonl.Line, keys []int, r *reading) {
			if r.ids == nil {
				r.ids = message.NewIdentifier(s.seed)
			}
			r.list = append(r.list, saidIn(l, keys, r.ids))
		},
		Fold: func(r *reading) {
			base += len(batch)
			batch = append(batch[:0:0], r.list...)
		},
		Reset: func(r *reading) { r.list = r.list[:0] },
	})
	if err != nil {
		f.errs = append(f.errs, c.Errorf("%w", err))
		return
	}
	damage := c.Damage
	damage.Append(scanned.Damage)
	if damage.Total > 0 {
		f.damage = append(f.damage, ChatDamage{path, damage})
	}
}

// saidIn reads what counts of a message.
func saidIn(l *jsonl.Line, keys []int, ids *message.Identifier) said {
	value := func(k int) []byte { raw, _ := l.Value(keys[k]); return raw }
	m := said{date: noDate, user: rawjson.Truthy(value(1))}
	m.id = ids.Identity(value(0), value(1), value(2), value(3), l.Plain)
	m.name, _ = rawjson.Unquote(value(0))
	if at, ok := sendate.ParseRaw(value(3)); ok {
		m.date = at.UnixMilli()
	}
	text := value(2)
	speaker := message.Speaker{Name: value(0), User: value(1), System: value(4)}
	l.Inside(keys[8], func(key, raw []byte) {
		switch {
		case rawjson.KeyIs(key, "type"):
			speaker.Type = raw
		case rawjson.KeyIs(key, "isSmallSys"):
			speaker.Small = raw
		case rawjson.KeyIs(key, "tool_invocations"):
			speaker.Tools = raw
		case rawjson.KeyIs(key, "display_text"):
			if rawjson.Truthy(raw) {
				text = raw
			}
		case rawjson.KeyIs(key, "token_count"):
			if n, ok := rawjson.Int(raw); ok && n > 0 {
				m.tokens = int32(min(n, 1<<30))
			}
		case rawjson.KeyIs(key, "model"):
			m.model, _ = rawjson.Unquote(raw)
		}
	})

	m.role = speaker.Role()
	m.counts = !rawjson.Truthy(speaker.Type) && !rawjson.Truthy(speaker.Small)
	if !m.counts {
		return m
	}
	if shown, ok := rawjson.Unquote(text); ok {
		m.words = int32(words.Number(prose.Plain(shown)))
	}
	m.swipes = int32(max(l.Count(keys[5])-1, 0))
	from, okFrom := sendate.ParseRaw(value(6))
	to, okTo := sendate.ParseRaw(value(7))
	if okFrom && okTo {
		if d := to.Sub(from); d < 0 || d > time.Hour {
			m.gen = -1
		} else {
			m.gen = int32(d.Milliseconds())
		}
	}
	return m
}

// counting counts the messages of one chat.
type counting struct {
	*statistician
	owner, name string
	seen        map[message.ID]int32 // of the owner: how often each was counted
	here        map[message.ID]int32 // how often each stood in this chat
	told        map[*Tally]bool      // that count this chat
}

// count counts a message, unless a chat before had it as often.
func (c *counting) count(m *said) {
	if !m.counts {
		return
	}
	if !c.opt.Every {
		if c.here[m.id]++; c.here[m.id] <= c.seen[m.id] {
			return
		}
		c.seen[m.id] = c.here[m.id]
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	var at time.Time
	day := int32(-1 << 31)
	if m.date == noDate {
		c.sum.Undated++
	} else {
		at = time.UnixMilli(m.date).In(c.opt.Zone)
		day = dayOf(at)
		c.sum.Hours[at.Hour()]++
		c.sum.Daily[day] += int(m.words)
	}

	c.add(&c.all, m, at, day)
	key := c.key(m, at)
	t := c.keys[key]
	if t == nil {
		t = &Tally{Schema: 1, By: c.opt.By, Key: key, days: map[int32]bool{}}
		c.keys[key] = t
	}
	c.add(t, m, at, day)
	if m.date != noDate {
		c.sum.dated = append(c.sum.dated, datedMessage{m.date, t})
	}
}

// key returns what a message is counted under; "" where it has no date, model or name.
func (c *counting) key(m *said, at time.Time) string {
	switch c.opt.By {
	case "owner":
		return c.owner
	case "chat":
		return c.name
	case "name":
		return m.name
	case "role":
		return string(m.role)
	case "model":
		return m.model
	}

	if at.IsZero() {
		return ""
	}
	switch c.opt.By {
	case "day":
		return at.Format(time.DateOnly)
	case "week":
		return weekKey(at)
	case "month":
		return at.Format("2006-01")
	case "weekday":
		return at.Format("Mon")
	}
	return at.Format("15")
}

// add adds a message to what was counted.
func (c *counting) add(t *Tally, m *said, at time.Time, day int32) {
	if !c.told[t] {
		c.told[t] = true
		t.Chats++
	}
	t.Messages++
	t.Words += int(m.words)
	if m.user {
		t.UserWords += int(m.words)
	}
	t.Swipes += int(m.swipes)
	if m.swipes > 0 {
		t.Swiped++
	}
	t.Tokens += int(m.tokens)
	if m.gen < 0 {
		t.GenLeftOut++
	} else {
		t.GenMS += int64(m.gen)
	}

	if at.IsZero() {
		return
	}
	t.days[day] = true
	if t.First.IsZero() || at.Before(t.First) {
		t.First = at
	}
	if at.After(t.Last) {
		t.Last = at
	}
}

func (t *Tally) finish() {
	t.Days = len(t.days)
	if !t.First.IsZero() {
		from, to := t.First.UTC().Format(time.RFC3339), t.Last.UTC().Format(time.RFC3339)
		t.FirstDate, t.LastDate = &from, &to
	}
}

// finish fills in what all messages add up to.
func (s *statistician) finish() {
	s.all.finish()
	sum := s.sum
	sum.Counts = s.all.Counts
	sum.sessions(sessionGap)
	for _, t := range s.keys {
		t.finish()
		sum.Rows = append(sum.Rows, t)
	}

	slices.SortFunc(sum.Rows, func(a, b *Tally) int {
		if s.opt.By.IsTime() {
			return cmp.Or(cmp.Compare(weekday(a.Key), weekday(b.Key)), cmp.Compare(a.Key, b.Key))
		}
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(a.Key, b.Key))
	})

	sum.streak(s.all.days)
}

func (s *Statistics) streak(days map[int32]bool) {
	list, from := slices.Sorted(maps.Keys(days)), 0
	for i, day := range list {
		if i > 0 && day != list[i-1]+1 {
			from = i
		}
		if n := i - from + 1; s.Streak == nil || n > s.Streak.Days {
			s.Streak = &Streak{n, DayText(list[from]), DayText(day)}
		}
		if w := s.Daily[day]; w > 0 && (s.BestDay == nil || w > s.BestDay.Words) {
			s.BestDay = &BestDay{DayText(day), w}
		}
	}
}

// sessions divides the messages into sessions, which end where nothing is written for longer than gap.
func (s *Statistics) sessions(gap time.Duration) {
	slices.SortFunc(s.dated, func(a, b datedMessage) int { return cmp.Compare(a.date, b.date) })
	var lengths, counts []int64
	for from := 0; from < len(s.dated); {
		to := from + 1
		for to < len(s.dated) && s.dated[to].date-s.dated[to-1].date <= gap.Milliseconds() {
			s.dated[to].row.TimeMS += s.dated[to].date - s.dated[to-1].date
			to++
		}
		length := s.dated[to-1].date - s.dated[from].date
		s.TimeMS += length
		lengths = append(lengths, length)
		counts = append(counts, int64(to-from))
		from = to
	}

	s.Sessions.Count = len(counts)
	if len(counts) > 0 {
		s.Sessions.MedianMS, s.Sessions.MedianMessages = median(lengths), int(median(counts))
	}
	s.dated = nil
}

// median returns the middle of a list, of two middles the mean.
func median(list []int64) int64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
