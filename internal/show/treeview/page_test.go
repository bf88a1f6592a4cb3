package treeview

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// writePage writes a tree as a page into a folder of its own.
func writePage(t *testing.T, tree *Tree, edit func(string) string) string {
	t.Helper()
	page := draw(t, func(w *bytes.Buffer) error { return HTML(w, tree) })
	if edit != nil {
		page = edit(page)
	}
	path := filepath.Join(t.TempDir(), "family.html")
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// plainTree is families of chats with ordinary names; every chat but the roots parts
// from the one before it or from its root.
func plainTree(owners, families, chats int) *Tree {
	t := &Tree{}
	day := time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)
	for o := range owners {
		owner := &Owner{Name: fmt.Sprint("Owner ", o)}
		for f := range families {
			var root, last *Chat
			for i := range chats {
				name := fmt.Sprintf("Story %d.%d", o, f)
				c := &Chat{Name: name, Path: "chats/" + name + ".jsonl", Owner: owner.Name, Role: "root", Messages: 40, Own: 40, First: day, Until: day.AddDate(0, 0, 3), Children: []string{}}
				if i > 0 {
					above := root
					if i%3 == 0 {
						above = last
					}
					c.Name = fmt.Sprintf("%s - Branch #%d", name, i)
					c.Role, c.Above, c.Parent, c.Depth = "branch", above, &above.Name, above.Depth+1
					at := above.Messages - 1 - i%20
					c.At, c.AtParent, c.Shared, c.Edited = new(at), new(at), new(at+1), new(0)
					c.Own, c.Messages = i%9, at+1+i%9
					if i%4 == 0 {
						c.Role = "checkpoint"
					}
				} else {
					root = c
					c.Current = f == 0
				}
				said := fmt.Sprintf("message of number%d in family%d", i, f)
				c.Texts = []Message{{Index: max(c.Messages-2, 0), Role: "user", Name: "You", Said: said}, {Index: max(c.Messages-1, 0), Role: "character", Name: owner.Name, Said: "And so on.", Swipe: 2, Swipes: 3}}
				c.Dates = []Date{{0, day}, {c.Messages - 1, day.AddDate(0, 0, 3)}}
				owner.Chats = append(owner.Chats, c)
				last = c
			}
		}
		t.Owners = append(t.Owners, owner)
	}
	t.Summary = Summary{Chats: owners * families * chats, Families: owners * families}
	return t
}

// TestLanes sees to it that no line to a chat crosses another chat or its text: those
// between a fork and its chat begin behind the fork.
func TestLanes(t *testing.T) {
	for _, tree := range []*Tree{plainTree(3, 4, 60), hostileTree()} {
		list := lanes(tree)
		for i := range list {
			l := &list[i]
			if l.above < 0 {
				continue
			}
			p := &list[l.above]
			if l.fork >= 0 && (l.fork < p.from && p.above >= 0 || l.fork > p.to) {
				t.Errorf("%.40q parts at %d, where %.40q is not drawn", l.chat.Name, l.fork, p.chat.Name)
			}
			for k := l.above + 1; k < i; k++ {
				if between := &list[k]; between.fork < l.fork {
					t.Errorf("the line to %.40q at %d crosses %.40q, which begins at %d", l.chat.Name, l.fork, between.chat.Name, between.fork)
				}
			}
		}
	}
}

// apart is a family of which one chat shares no message with its parent.
func apart() *Tree {
	tree := plainTree(1, 1, 3)
	c := tree.Owners[0].Chats[2]
	c.At, c.AtParent, c.Own = new(-1), new(-1), c.Messages
	return tree
}

func TestPageHoldsNoLoophole(t *testing.T) {
	out := draw(t, func(w *bytes.Buffer) error { return HTML(w, hostileTree()) })
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc", "eval(", "new Function", " style=", "http:", "https:", "<img", "<iframe", "<link"} {
		if n := strings.Count(out, word); n > 0 && (word != "http:" || n > 1) {
			t.Errorf("the page has %q %d times", word, n)
		}
	}
	if n := strings.Count(out, "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
	if regexp.MustCompile(`\son[a-z]+=`).MatchString(pageBody) {
		t.Error("an inline handler")
	}
	data := out[strings.Index(out, `id="data">`):]
	data = data[len(`id="data">`):strings.Index(data, "</script>")]
	if strings.ContainsAny(data, "<>&\u2028\u2029") {
		t.Error("the data is not escaped")
	}
}

// TestTextInPage looks at the tree that is read without scripting: a name that is written from the
// right does not change places with the numbers beside it.
func TestTextInPage(t *testing.T) {
	tree := plainTree(1, 1, 2)
	tree.Owners[0].Chats[1].Name = "شتاء <b>"
	out := draw(t, func(w *bytes.Buffer) error { return HTML(w, tree) })
	if want := `(?m)^<bdi dir="ltr">[├└]─· شتاء &lt;b&gt;</bdi> {2,}<bdi dir="ltr">\d+</bdi> {2,}<bdi dir="ltr">\d+</bdi>`; !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("the page lacks %s: %s", want, out[strings.Index(out, "<pre>"):strings.Index(out, "</pre>")])
	}
}

// TestPage opens pages from disk in a real browser.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser is the same everywhere")
	}
	b := chromium(t)
	for name, try := range map[string]func(*testing.T, *browser){
		"hostile": hostilePage, "empty": emptyPage, "apart": apartPage, "policy": policy, "used": pageIsUsed, "large": largePage, "list": listByKeys, "address": addressOfPage, "texts": hitInText, "narrow": narrowPage, "without scripting": pageWithoutScripting,
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			try(t, b)
		})
	}
	b.t = t
}

// hostilePage opens a page in which all text is hostile: nothing of it runs.
func hostilePage(t *testing.T, b *browser) {
	b.page(writePage(t, hostileTree(), nil), true)
	b.is("document.title", "Families of chats - "+shown(hostile[0], longest))
	b.is("typeof window.pwned", "undefined")
	b.is("document.querySelectorAll('#rows .row').length", len(hostile))
	for i := range hostile {
		b.eval(fmt.Sprintf("document.querySelectorAll('#rows .row')[%d].click()", i))
		// its address leads to it
		b.is("(() => { const said = () => document.querySelector('#panel h2').textContent, was = said(); document.querySelector('#panel .top button').click(); history.back(); return new Promise((r) => setTimeout(() => r(said() === was), 30)) })()", true)
	}
	b.is("document.querySelector('#panel h2') !== null", true)
	b.is("document.querySelectorAll('script').length", 2)
	b.is("document.querySelectorAll('img, iframe, a, link').length", 0)
	b.is("({}).polluted === undefined && Object.getPrototypeOf({}) === Object.prototype", true)
	b.quiet("hostile text")
}

// emptyPage opens the page of chats that are all alone: it says so, and its buttons do not fail.
func emptyPage(t *testing.T, b *browser) {
	b.page(writePage(t, &Tree{Summary: Summary{Alone: 3}}, nil), true)
	b.is("document.getElementById('nothing').innerText", "No chats to show. Those without relatives are left out; tree --all shows them.")
	b.key("+")
	b.eval("document.getElementById('folds').click()")
	b.quiet("no chat")
	b.page(writePage(t, &Tree{}, nil), true)
	b.is("document.getElementById('nothing').innerText", "No chats to show.")
	b.quiet("no chat at all")
}

// apartPage opens a page of a chat that shares no message with its parent: its fork is seen whole.
// That a parent is missing is said once.
func apartPage(t *testing.T, b *browser) {
	tree := apart()
	tree.Owners[0].Chats[0].Dangling = new("gone")
	b.page(writePage(t, tree, nil), true)
	b.eval("document.querySelector('#rows .row').click()")
	b.is("document.querySelector('#panel .facts').textContent.split('missing').length", 2)
	b.is("[...document.querySelectorAll('#lanes .fork')].filter((c) => c.getAttribute('cx') === '13').length", 1)
}

// policy opens a page with one handler that was not escaped: the policy stops it.
func policy(t *testing.T, b *browser) {
	b.page(writePage(t, plainTree(1, 1, 3), func(page string) string {
		return strings.Replace(page, "<header", `<img src="x" onerror="window.pwned=1"><header`, 1)
	}), true)
	b.is("document.querySelectorAll('img').length", 1)
	b.until("the policy stops it", func() bool {
		return strings.Contains(strings.Join(b.said("Log.entryAdded"), "\n"), "Content Security Policy")
	})
	b.is("typeof window.pwned", "undefined")
}

// pageIsUsed searches, steps, zooms and pans by keys and pointer.
func pageIsUsed(t *testing.T, b *browser) {
	b.page(writePage(t, plainTree(2, 2, 9), nil), true)
	b.is("document.querySelectorAll('#rows .row').length", 36)
	lanes := "document.querySelectorAll('#lanes .lane, #lanes .link').length > 8"
	b.is(lanes, true)
	// by keys alone: search, step, close
	b.key("/")
	b.is("document.activeElement.id", "query")
	b.do("Input.insertText", object{"text": "family1 NUMBER4"})
	b.is("document.getElementById('count').textContent", 2)
	b.is("document.querySelectorAll('#rows .hit').length", 2)
	b.is("document.querySelectorAll('#rows .dim').length", 34)
	b.key("Enter")
	b.is("document.getElementById('count').textContent", "1/2")
	b.is("document.querySelector('#panel h2').textContent", "Story 0.1 - Branch #4")
	b.key("Enter")
	b.is("document.querySelector('#panel h2').textContent", "Story 1.1 - Branch #4")
	b.is("document.querySelector('#panel .who span').textContent.length > 0", true)
	b.is("document.querySelector('#panel code').textContent.startsWith('stchat branch ')", true)
	b.key("Escape") // out of the search
	b.is("document.getElementById('query').value", "")
	b.key("Escape")
	b.is("document.getElementById('panel').hidden", true)
	// the list opens a chat, and its parent is a button
	b.eval("document.querySelectorAll('#rows .row')[1].focus()")
	b.key("Enter")
	b.is("document.getElementById('panel').hidden", false)
	b.is("document.activeElement.tagName", "H2")
	b.eval("document.querySelector('.kin button').click()")
	b.is("document.querySelector('#panel h2').textContent", "Story 0.0")
	b.is("document.querySelectorAll('#panel .chips li')[1].textContent", "open in SillyTavern")
	b.key("Escape")
	// zoom and pan
	tick := "document.querySelectorAll('#lanes .tick')[1].textContent"
	before := "#10"
	b.key("0")
	b.is(tick, before)
	b.eval("document.getElementById('stage').focus()")
	for range 12 {
		b.key("+")
	}
	b.is(tick+" !== "+fmt.Sprintf("%q", before), true)
	b.key("0")
	b.is(tick, before)
	first := "document.querySelector('#lanes .end').getAttribute('cx')"
	at := b.eval(first)
	b.key("ArrowRight")
	b.is(first+" !== "+fmt.Sprintf("%q", at), true)
	b.key("0")
	b.is(first, at)
	// the wheel scrolls, with Shift sideways, and with Ctrl zooms
	row := "document.querySelector('#lanes .end').getAttribute('cy')"
	down := b.eval(row)
	b.wheel(300, 0)
	b.is(row+" !== "+fmt.Sprintf("%q", down), true)
	b.is(first, at)
	b.key("0")
	b.is(row, down)
	b.wheel(300, shift)
	b.is(first+" !== "+fmt.Sprintf("%q", at), true)
	b.is(row, down)
	b.key("0")
	b.is(first, at)
	for range 20 {
		b.wheel(3000, 0)
	}
	b.is("[...document.querySelectorAll('#lanes .end')].at(-1).getBoundingClientRect().y > 700", true) // not beyond the last
	b.key("0")
	b.is(row, down)
	b.wheel(-100, ctrl)
	b.is("Number("+first+") > "+fmt.Sprint(at), true)
	b.key("0")
	b.is(first, at)
	b.mouse("mousePressed", 700, 400)
	b.mouse("mouseMoved", 640, 380)
	b.mouse("mouseReleased", 640, 380)
	b.is(first+" !== "+fmt.Sprintf("%q", at), true)
	b.is("document.getElementById('panel').hidden", true)
	b.key("0")
	b.is(first, at)
	// a click on the first lane
	y, _ := b.eval("document.querySelector('#lanes .lane').getBoundingClientRect().y").(float64)
	b.mouse("mousePressed", 340, y)
	b.mouse("mouseReleased", 340, y)
	b.is("document.getElementById('panel').hidden", false)
	b.key("Escape")
	// one owner
	b.eval("{const o = document.getElementById('owner'); o.value = '1'; o.dispatchEvent(new Event('change'))}")
	b.is("document.querySelectorAll('#rows .row').length", 18)
	b.key("?")
	b.is("document.getElementById('legend').hidden", false)
	b.quiet("a page in use")
}

// listByKeys goes through the list by keys, and folds families and owners.
func listByKeys(t *testing.T, b *browser) {
	b.page(writePage(t, plainTree(2, 2, 3), nil), true)
	b.is("document.querySelectorAll('#rows [tabindex=\"0\"]').length", 1)
	b.eval("document.querySelector('#rows [tabindex=\"0\"]').focus()")
	focus := "document.activeElement.querySelector('bdi').textContent"
	go1 := func(key, to string) {
		t.Helper()
		b.key(key)
		b.is(focus, to)
		b.is("document.activeElement.tabIndex === 0 && document.querySelectorAll('#rows [tabindex=\"0\"]').length", 1)
	}
	go1("Home", "Owner 0")
	go1("ArrowDown", "Story 0.0")
	go1("ArrowDown", "… - Branch #1")
	go1("ArrowLeft", "Story 0.0")
	rows, lanes := "document.querySelectorAll('#rows .row').length", "document.querySelectorAll('#lanes .end').length"
	expanded := "document.activeElement.parentNode.querySelector('[aria-expanded]').getAttribute('aria-expanded')"
	b.is(expanded, "true")
	b.is(lanes, 12)
	go1("ArrowLeft", "Story 0.0") // which folds
	b.is(expanded, "false")
	b.is(rows, 10)
	b.is(lanes, 10)
	b.is("document.querySelector('#lanes').textContent.includes('3 chats in this family')", true)
	b.is("document.activeElement.textContent.includes('3 chats')", true)
	go1("ArrowLeft", "Owner 0")
	go1("ArrowLeft", "Owner 0") // which folds
	b.is(expanded, "false")
	b.is(rows, 6)
	b.is(lanes, 6)
	go1("ArrowRight", "Owner 0")
	b.is(rows, 10)
	go1("ArrowRight", "Story 0.0")
	go1("ArrowRight", "Story 0.0")
	b.is(rows, 12)
	go1("ArrowRight", "… - Branch #1")
	b.key("End")
	b.is("document.activeElement === [...document.querySelectorAll('#rows .row')].at(-1)", true)
	b.eval("document.getElementById('folds').click()")
	b.is(rows, 4)
	b.is("document.getElementById('folds').getAttribute('aria-pressed')", "true")
	// what is found in a folded family unfolds it
	b.key("/")
	b.do("Input.insertText", object{"text": "number2 family1"})
	b.is("document.querySelectorAll('#rows .hit').length", 2)
	b.key("Enter")
	b.is("document.querySelector('#panel h2').textContent", "Story 0.1 - Branch #2")
	b.is(rows, 6)
	b.quiet("a list by keys")
}

// addressOfPage goes by the address: at load, at each step, and back.
func addressOfPage(t *testing.T, b *browser) {
	path := writePage(t, plainTree(2, 2, 5), nil)
	b.page(path+"#Owner%201/Story%201.0%20-%20Branch%20%233&q=number3", true)
	title := "document.querySelector('#panel h2')?.textContent ?? ''"
	b.is(title, "Story 1.0 - Branch #3")
	b.is("document.getElementById('query').value", "number3")
	b.is("document.getElementById('count').textContent", "3/4")
	b.eval("document.querySelector('.kin button').click()")
	b.is("decodeURIComponent(location.hash)", "#Owner 1/Story 1.0 - Branch #2&q=number3")
	b.eval("history.back()")
	b.is(title, "Story 1.0 - Branch #3")
	b.eval("history.forward()")
	b.is(title, "Story 1.0 - Branch #2")
	b.key("Escape")
	b.is("location.hash", "#&q=number3")
	b.eval("history.back()")
	b.is("document.getElementById('panel').hidden", false)
	for _, odd := range []string{"#nobody/nothing", "#__proto__/constructor", "#%E0%A4%A/x", "#/", "#Owner%200/", "#"} {
		b.eval(fmt.Sprintf("location.hash = %q", odd))
		b.is("location.hash === "+fmt.Sprintf("%q", odd)+" || location.hash === ''", true)
	}
	b.is("document.getElementById('panel').hidden", true)
	b.is("document.getElementById('query').value", "")
	b.quiet("addresses")
}

// hitInText finds a word in the middle of a chat: the panel shows that message, marked.
func hitInText(t *testing.T, b *browser) {
	tree := plainTree(1, 1, 2)
	c := tree.Owners[0].Chats[0]
	c.Texts = nil
	for i := range 1000 {
		c.Texts = append(c.Texts, Message{Index: i, Role: "character", Name: "Ines", Said: fmt.Sprint("Line ", i, " of \u202emany")})
	}
	c.Texts[500].Said = "two\nlines, and a (Lighthouse) here"
	c.Messages, c.Own, tree.Whole = 1000, 1000, true
	b.page(writePage(t, tree, nil), true)
	b.is("document.getElementById('query').placeholder", "Search names and all texts")
	b.key("/")
	b.do("Input.insertText", object{"text": "(light two"})
	b.is("document.getElementById('count').textContent", 1)
	b.key("Enter")
	b.is("document.querySelectorAll('#panel .say').length < 1000", true)
	b.is("document.querySelector('#panel .say.hit .who').textContent", "Ines#500")
	b.is("[...document.querySelectorAll('#panel mark')].map((m) => m.textContent).join()", "two,(Light")
	b.is("(() => { const a = document.querySelector('.say.hit').getBoundingClientRect(); return a.top > 0 && a.bottom < innerHeight })()", true)
	b.quiet("a hit")
}

// narrowPage opens a page on a phone: its controls stay in the window, however long a name is.
func narrowPage(t *testing.T, b *browser) {
	tree := plainTree(2, 1, 2)
	tree.Owners[1].Name = strings.Repeat("long", 30)
	for _, c := range tree.Owners[1].Chats {
		c.Owner = tree.Owners[1].Name
	}
	b.page(writePage(t, tree, nil), true)
	b.do("Emulation.setDeviceMetricsOverride", object{"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": false})
	b.is("[...document.querySelectorAll('#bar :is(input, select, button)')].filter((e) => e.getBoundingClientRect().right > innerWidth).length", 0)
}

// TestContrast holds the page's colours, light and dark, against WCAG 2: 4.5 : 1 for texts, 3 : 1
// for lanes and marks.
func TestContrast(t *testing.T) {
	themes := regexp.MustCompile(`:root\{[^}]*\}`).FindAllString(pageStyle, 2)
	for i, theme := range themes {
		light := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z]+):#([0-9a-f]{3,6})`).FindAllStringSubmatch(theme, -1) {
			light[m[1]] = luminance(t, m[2])
		}
		for _, pair := range []struct {
			on, of string
			least  float64
		}{
			{"bg face you them grid", "ink soft", 4.5}, {"bg face you grid", "hit", 4.5}, {"bg face", "accent", 4.5}, {"bg face you grid", "root branch checkpoint copy", 3},
		} {
			for on := range strings.FieldsSeq(pair.on) {
				for of := range strings.FieldsSeq(pair.of) {
					a, b := light[on]+0.05, light[of]+0.05
					if ratio := max(a, b) / min(a, b); ratio < pair.least || light[on] == light[of] {
						t.Errorf("theme %d: %s on %s: %.2f : 1, want %g", i, of, on, ratio, pair.least)
					}
				}
			}
		}
	}
}

// luminance returns how light a colour is, as WCAG 2 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	sum := 0.0
	for i, part := range [...]float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += part * c
	}
	return sum
}

// largePage opens thousands of chats: only what is to be seen is drawn.
func largePage(t *testing.T, b *browser) {
	tree := plainTree(25, 10, 20)
	tree.Owners[0].Chats[0].Messages, tree.Owners[0].Chats[1].Own = 1234, 1234
	b.page(writePage(t, tree, nil), true)
	b.is("[...document.querySelectorAll('#rows .row .n')].filter((e) => /(^| \\+)1[^0-9]234$/.test(e.textContent.trim())).length", 2)
	b.is("document.querySelectorAll('#rows .row').length", 5000)
	b.is("document.querySelectorAll('#lanes g').length < 200", true)
	b.is("document.querySelectorAll('#lanes g').length > 5", true)
	b.quiet("5,000 chats")
}

func pageWithoutScripting(t *testing.T, b *browser) {
	b.page(writePage(t, plainTree(1, 1, 3), nil), false)
	var tree struct{ Root struct{ NodeID int } }
	decode(t, b.do("DOM.getDocument", object{}), &tree)
	var found struct{ NodeID int }
	decode(t, b.do("DOM.querySelector", object{"nodeId": tree.Root.NodeID, "selector": "noscript pre"}), &found)
	var html struct{ OuterHTML string }
	decode(t, b.do("DOM.getOuterHTML", object{"nodeId": found.NodeID}), &html)
	if !strings.Contains(html.OuterHTML, "Story 0.0") || !strings.Contains(html.OuterHTML, "─") {
		t.Errorf("the tree is not there: %s", html.OuterHTML)
	}
}
