package publish

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/text/progress"
)

const secret = "the definition, or a prompt"

// planted returns a PNG that carries what must not be given away.
func planted(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 60))); err != nil {
		t.Fatal(err)
	}
	data := "chara\x00" + base64.StdEncoding.EncodeToString([]byte(`{"name":"Mira","description":"`+secret+`"}`)) + secret
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(append(chunk, "tEXt"...), data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return append(append(append([]byte(nil), b.Bytes()[:33]...), chunk...), b.Bytes()[33:]...)
}

func write(t *testing.T, root, path string, data []byte) {
	t.Helper()
	path = filepath.Join(root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// hostileFolder is a user folder whose texts, names and addresses try to get out.
func hostileFolder(t *testing.T) string {
	t.Helper()
	user := t.TempDir()
	write(t, user, "settings.json", []byte("{}"))
	write(t, user, "worlds/x.json", []byte("{}"))
	write(t, user, "characters/Mira.png", planted(t))
	write(t, user, "User Avatars/me.png", planted(t))
	write(t, user, "user/images/Mira/a b.png", planted(t))
	write(t, user, "secret.png", planted(t))
	var chat strings.Builder
	chat.WriteString(`{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`)
	for i, text := range []string{
		`<img src=x onerror=alert(1)>`, `</style><script>alert(1)</script>`, `]]><b>`, "[x](javascript:alert(1)) [y](https://a.example/?a=1&b)",
		"![p](user/images/Mira/a%20b.png) ![q](https://evil.example/x.png) ![r](../../secret.png) ![s](data:image/svg+xml;base64,PHN2Zy8+)",
		"a <!-- img-prompt=\"" + secret + "\" --> b", "&#27;]52;c;aGk=&#7;", "a\u202eb\x00", "> q\n> > w\n\n- a\n  - b\n\n1. x\n\n```\n<b>\n```\n# h\n---",
	} {
		avatar := []string{"/thumbnail?type=persona&file=me.png", "/thumbnail?type=avatar&file=../secret.png", "User Avatars/me.png", ""}[i%4]
		fmt.Fprintf(&chat, "\n"+`{"name":%q,"is_user":%v,"send_date":"2026-03-01T18:42:07.311Z","mes":%s,"force_avatar":%q,"extra":{"media":[{"url":"/user/images/Mira/a%%20b.png","type":"image","title":"\"><i>"}],"bookmark_link":"<b>"}}`,
			"<script>", i%2 == 1, quoted(text), avatar)
	}
	write(t, user, "chats/Mira/evil 'x' & y.jsonl", []byte(chat.String()))
	return user
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + `"`
}

// TestPages exports the hostile folder: the pages are well-formed, have nothing that runs or is
// fetched but their own constant script, lead nowhere but to each other, and give nothing away: no
// comment either, so that the search box finds what a page shows.
func TestPages(t *testing.T) {
	user, site := hostileFolder(t), filepath.Join(t.TempDir(), "site")
	pictures, meter := 0, new(progress.Meter)
	_, err := Export(context.Background(), Options{Format: HTML, Export: ops.Export{
		List: ops.List{Paths: []string{user}}, Output: site, Folder: true, Swipes: true, Changes: changeset.Options{NoSync: true}, Meter: meter,
	}}, func(r *Result) error {
		pictures += r.Doc.Pictures
		return r.Err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := meter.State(); s.Files != 1 || s.Done != s.Files || s.Bytes == 0 || s.Read < s.Bytes {
		t.Errorf("the meter says %+v", s)
	}
	if pictures != 10 {
		t.Errorf("%d pictures in the page, not 10", pictures)
	}
	pages, err := filepath.Glob(filepath.Join(site, "*", "*.html"))
	if err != nil || len(pages) != 1 {
		t.Fatalf("%q, %v", pages, err)
	}
	for _, path := range append(pages, filepath.Join(site, "index.html")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page := string(data)
		if n := strings.Count(page, "<script"); n > 1 || n == 1 && !strings.Contains(page, "<script>"+script+"</script>") {
			t.Errorf("%s has %d scripts", path, n)
		}
		for _, loophole := range []string{" style=", "javascript:", `src="http`, `href="file`, "evil.example", secret, "\x00"} {
			if at := strings.Index(page, loophole); at >= 0 {
				t.Errorf("%s has %q: %q", path, loophole, page[at:min(at+80, len(page))])
			}
		}
		for _, data := range regexp.MustCompile(`base64,([A-Za-z0-9+/=]+)`).FindAllStringSubmatch(page, -1) {
			raw, err := base64.StdEncoding.DecodeString(data[1])
			if err != nil || bytes.Contains(raw, []byte("definition")) || bytes.Contains(raw, []byte("chara")) {
				t.Errorf("%s gives away what a picture carries: %v", path, err)
			}
		}
		body := page[strings.Index(page, "<body>"):strings.LastIndex(page, "</html>")]
		if at := strings.Index(body, "<script>"); at >= 0 {
			body = body[:at] + "</body>"
		}
		d := xml.NewDecoder(strings.NewReader(body))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s is not well-formed: %v", path, err)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && strings.Contains(a.Value, ":") && !strings.HasPrefix(a.Value, "https://a.example/") && !strings.HasPrefix(a.Value, "data:image/png;") {
					t.Errorf("%s: <%s %s=%q>", path, start.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

// TestDirections looks at what stands around names that are written from the right.
func TestDirections(t *testing.T) {
	user, site := t.TempDir(), filepath.Join(t.TempDir(), "site")
	write(t, user, "settings.json", []byte("{}"))
	write(t, user, "chats/محمد/شتاء.jsonl", []byte(`{"chat_metadata":{}}`+"\n"+`{"name":"محمد","is_user":false,"send_date":"2026-03-01T12:42:07.311Z","mes":"x"}`))
	if _, err := Export(context.Background(), Options{Format: HTML, Export: ops.Export{
		List: ops.List{Paths: []string{user}}, Output: site, Folder: true, Changes: changeset.Options{NoSync: true}, Meter: new(progress.Meter),
	}}, func(r *Result) error { return r.Err }); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(site, "محمد", "شتاء.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<b><bdi>محمد</bdi> · <bdi>شتاء</bdi></b>", "<h1><bdi>شتاء</bdi></h1>", "<bdi>محمد</bdi></a> · 1 March 2026 · 1 message</p>", "<h3><bdi>محمد</bdi></h3>"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %s", part)
		}
	}
}

// TestLetters looks at what stands for who has no picture.
func TestLetters(t *testing.T) {
	g := newPager(&exporter{}, io.Discard, []*published{{}})
	for name, want := range map[string]string{
		"Maren": "M", "汐見 栞": "汐", "محمد": "م", "1st": "1", "🇳🇴 Kari": "🇳🇴", "👨‍👩‍👧‍👦 family": "👨‍👩‍👧‍👦", "👍🏽": "👍🏽", "e\u0301tienne": "e\u0301",
		"\u1100\u1161\u11a8": "\u1100\u1161\u11a8", "नमस्ते": "न", "  \"Quoted\"": "Q", "«\u00a0été": "é", "\x1b\u202e\u200b<b>": "b", "\ufffdx": "x", "\u3164": "?", "\u2800x": "x",
		"": "?", " ": "?", "\u0301": "?", "—\x07": "?",
	} {
		if got := g.avatar(&look.Message{Role: "user"}, name); !strings.HasSuffix(got, ">"+want+"</span>") {
			t.Errorf("%q: %s, not %s", name, got, want)
		}
	}
}

func TestStats(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []string
	}{
		{1, []string{
			"1 chat, 1 message, 1 word (", "1 session, 1 min in all, median 1 minute and 1 message; longest streak 1 day<",
			"<h2>By month</h2>", "<td><bdi>2026-03</bdi><small>2026-03-01 – 2026-03-18 · 1 other swipe · 1 min</small></td><td>1</td>", "<td><bdi>(none)</bdi><small></small></td><td>0</td>",
			"y=\"-5\">Mar</text>", "2026-03-18: 1 word<", "more, words a day; best day <time>2026-03-18</time>, 1 word<",
		}},
		{1234, []string{"theirs 1,234; every copy counts)</p>", "1,234 chats, 1,234 messages, 1,234 words (", "1,234 sessions, 1 min in all, median 1,234 minutes and 1,234 messages; longest streak 1,234 days<"}},
	} {
		s := &look.Statistics{Counts: look.Counts{TimeMS: 60_000, Chats: c.n, Messages: c.n, Words: c.n, Swipes: c.n}, Hours: make([]int, 24), Streak: &look.Streak{Days: c.n}, Counted: map[int]string{1: "distinct", 1234: "all"}[c.n]}
		s.Daily, s.BestDay = map[int32]int{20513: 1, 20530: c.n}, &look.BestDay{Day: "2026-03-18", Words: c.n} // 1 and 18 March 2026
		s.First, s.Last = time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local), time.Date(2026, 3, 18, 12, 0, 0, 0, time.Local)
		s.Rows = []*look.Tally{{By: "month", Key: "2026-03", Counts: s.Counts}, {By: "month"}}
		s.Sessions = look.Sessions{Count: c.n, MedianMS: int64(c.n) * 60_000, MedianMessages: c.n}
		var b strings.Builder
		if err := Stats(&b, s); err != nil {
			t.Fatal(err)
		}
		for _, part := range c.want {
			if !strings.Contains(b.String(), part) {
				t.Errorf("the page lacks %q", part)
			}
		}
	}
	var b strings.Builder
	if err := Stats(&b, &look.Statistics{Counts: look.Counts{Chats: 1, Messages: 1}, Hours: make([]int, 24)}); err != nil || strings.Contains(b.String(), "hour") {
		t.Errorf("the page tells the hours of messages without dates: %v", err)
	}
}

// TestYear: by week the page has a column for each week of a year, those without a message too, and lists them.
func TestYear(t *testing.T) {
	week := func(key string, last time.Time, words int, spent time.Duration) *look.Tally {
		return &look.Tally{By: "week", Key: key, Counts: look.Counts{Messages: 1, Words: words, UserWords: 1, Days: 1, TimeMS: spent.Milliseconds(), First: last, Last: last}}
	}
	s := &look.Statistics{Counts: look.Counts{Messages: 4}, Hours: make([]int, 24), Rows: []*look.Tally{
		{By: "week"}, // without a date
		week("2024-W40", time.Date(2024, 10, 1, 12, 0, 0, 0, time.UTC), 7, time.Hour),
		week("2026-W01", time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), 1200, 3*time.Hour),
		week("2026-W09", time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC), 60, 30*time.Minute),
	}}
	var b strings.Builder
	if err := Stats(&b, s); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"<h2>The year</h2>", "29 December 2025 – 1 March 2026: 2 messages, 1,260 words (yours 2), 3 h 30 min on 2 days in 2 of 9 weeks",
		"; most words 29 Dec – 4 Jan, 1,200; most time 29 Dec – 4 Jan, 3 h 0 min; 1 week before are not shown",
		`<title>23 Feb – 1 Mar: 60 words, 30 min</title><rect class="w1" x="96" y="76.0" width="10" height="4.0"/>`,
		"<title>5 Jan – 11 Jan: 0 words, 0 min</title>", `<text x="12" y="-5">Jan</text>`,
		"<tbody>\n<tr><td>2026-W09<small>23 Feb – 1 Mar</small></td><td>1</td><td>60</td><td>1</td><td>30 min</td></tr>\n",
	} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(b.String(), "By week") {
		t.Error("the weeks are listed twice")
	}
}
