package prose

import (
	"cmp"
	"html"
	"path"
	"slices"
	"strings"

	"stchat/internal/text/lazyregexp"
)

// code sets closed fences and code spans aside.
func (r *reader) code(s string) string {
	if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") {
		return r.spans(s)
	}
	var b []byte
	open := map[string]bool{} // fences that nothing closes
	done := 0                 // before it all is in b
	for at := 0; at < len(s); {
		next := lineEnd(s, at)
		if fence := fenceOf(s[at:next]); fence != "" && !open[fence] {
			from, to := closing(s, next, fence)
			if to > 0 {
				blanks := strings.Index(s[at:], fence) // tell whether it belongs to an item of a list
				b = append(b, r.spans(s[done:at+blanks])...)
				body := strings.TrimSuffix(s[next:from], "\n")
				b = r.aside(b, atom{text: body, mark: strings.TrimSpace(s[at:next]), style: Code, fence: true})
				b = append(b, '\n')
				done = to
				at = to
				continue
			}
			open[fence] = true
		}

		at = next
	}
	return string(append(b, r.spans(s[done:])...))
}

// lineEnd returns where the line after the one at a place begins.
func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}

// indented returns a line without at most three spaces in front.
func indented(line string) string {
	for range 3 {
		line = strings.TrimPrefix(line, " ")
	}
	return line
}

// fenceOf returns the signs that open a fence on a line, "" if none do.
func fenceOf(line string) string {
	line = indented(line)
	rest := strings.TrimLeft(line, "`")
	if len(rest) == len(line) {
		rest = strings.TrimLeft(line, "~")
	}
	fence := line[:len(line)-len(rest)]
	language, isWholeLine := strings.CutSuffix(rest, "\n")
	language = strings.TrimLeft(language, " ")
	if len(fence) < 3 || !isWholeLine || strings.ContainsAny(language, " \t`~") {
		return ""
	}
	return fence
}

// closing returns where the line begins that closes a fence, and where what follows the fence
// on it does; 0, 0 if there is none.
func closing(s string, at int, fence string) (from, to int) {
	for ; at < len(s); at = lineEnd(s, at) {
		front := s[at:min(len(s), at+len(fence)+3)] // with the most blanks that may be before it
		rest, ok := strings.CutPrefix(indented(front), fence)
		if !ok {
			continue
		}
		to = at + len(front) - len(rest)
		if strings.HasPrefix(s[to:], "\n") {
			to++
		}
		return at, to
	}
	return 0, 0
}

var (
	emptyLine = lazyregexp.New(`\n[ \t]*\n`)
	ticks     = lazyregexp.New("`+")
)

// spans sets the code spans of each paragraph aside.
func (r *reader) spans(s string) string {
	if strings.IndexByte(s, '`') < 0 {
		return s
	}
	var b []byte
	done := 0
	for _, gap := range append(emptyLine().FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		b = append(r.paragraphSpans(b, s[done:gap[0]]), s[gap[0]:gap[1]]...)
		done = gap[1]
	}
	return string(b)
}

// paragraphSpans appends a paragraph with its code spans set aside.
func (r *reader) paragraphSpans(b []byte, s string) []byte {
	found := ticks().FindAllStringIndex(s, -1)
	later := map[int][]int{} // by length: the numbers of the runs of ticks
	for i, run := range found {
		later[run[1]-run[0]] = append(later[run[1]-run[0]], i)
	}
	done := 0
	for i, run := range found {
		n := run[1] - run[0]
		isEscaped := run[0] > 0 && s[run[0]-1] == '\\'
		if run[0] < done || isEscaped {
			continue
		}
		for len(later[n]) > 0 && later[n][0] <= i {
			later[n] = later[n][1:]
		}
		if len(later[n]) == 0 {
			continue
		}
		end := found[later[n][0]]
		b = append(b, s[done:run[0]]...)
		b = r.aside(b, atom{text: strings.TrimSpace(s[run[1]:end[0]]), mark: s[run[0]:run[1]], style: Code})
		done = end[1]
	}
	return append(b, s[done:]...)
}

// gone is a tag that goes with all that it holds, breaks one that ends a line.
const (
	gone   = "gone"
	breaks = "\n"
)

// meaning is what tags become; of others only the text stays.
var meaning = map[string]string{
	"script": gone, "style": gone, "head": gone, "title": gone, "template": gone, "iframe": gone, "object": gone, "svg": gone, "math": gone,
	"p": breaks, "div": breaks, "li": breaks, "tr": breaks, "h1": breaks, "h2": breaks, "h3": breaks, "h4": breaks, "h5": breaks, "h6": breaks,
	"ul": breaks, "ol": breaks, "table": breaks, "details": breaks, "summary": breaks, "blockquote": breaks, "section": breaks,
	"td": " ", "th": " ", "br": "", "img": "", "b": "", "strong": "", "i": "", "em": "", "u": "", "s": "", "del": "", "q": "", "code": "",
}

var tagStyle = map[string]Style{
	"b": Bold, "strong": Bold, "i": Italic, "em": Italic, "u": Underline, "s": Strike, "del": Strike, "q": Quote, "code": Code,
}

// A tag's attributes have values, or are some of those that HTML needs none for: or "<b and c>" would be
// a tag.
var (
	aTag       = lazyregexp.New(`(?i)^<(/?)([a-z][a-z0-9]*)((?:\s+(?:[^\s"'<>/=]+=(?:"[^"]*"|'[^']*'|[^\s"'<>=\x60]+)|open|hidden|controls|autoplay|loop|muted|checked|disabled|selected))*)\s*/?>`)
	attributes = lazyregexp.New(`([^\s"'<>/=]+)=(?:"([^"]*)"|'([^']*)'|(\S+))`)
)

// markup takes comments and tags out of a text, and sets aside what they mean.
func (r *reader) markup(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	ends := endFinder{text: s, missing: map[string]bool{}}
	b := slices.Grow(r.scratch, len(s))
	at := 0
	for {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 {
			break
		}
		b = append(b, s[at:at+i]...)
		at += i
		end := 0 // of what is read here; 0: it is text
		if strings.HasPrefix(s[at:], "<!--") {
			end = ends.after(at+len("<!--"), "-->")
		} else if m := aTag().FindStringSubmatch(s[at:]); m != nil {
			name := lower(m[2])
			closes := m[1] != ""
			as, known := meaning[name]
			end = at + len(m[0])
			isText := !known && emptyLine().MatchString(m[0]) || as == gone && closes
			isAtBreak := as == breaks && (len(b) == 0 || b[len(b)-1] == '\n')
			switch {
			case isText:
				end = 0
			case as == gone:
				end = ends.after(end, "</"+name)
				if end > 0 {
					end = ends.after(end, ">")
				}
			case !isAtBreak:
				b = append(b, as...)
				b = r.tag(b, name, closes, m[3])
			}
		}

		if end == 0 {
			b = append(b, '<')
			end = at + 1
		}
		at = end
	}
	return r.made(append(b, s[at:]...))
}

// endFinder finds where comments and tags end. What it looked for in vain it does not look for again.
type endFinder struct {
	text    string
	low     string // text in lower case, once a tag's end is looked for
	missing map[string]bool
}

// after returns where text goes on behind the next end, 0 if there is none.
func (f *endFinder) after(at int, end string) int {
	if f.missing[end] {
		return 0
	}
	within := f.text
	isComment := end == "-->"
	if !isComment {
		if f.low == "" {
			f.low = lower(f.text)
		}
		within = f.low
	}

	i := strings.Index(within[at:], end)
	if i < 0 {
		f.missing[end] = true
		return 0
	}
	return at + i + len(end)
}

// tag appends what stands for a tag that is a style, a line's end or a picture.
func (r *reader) tag(b []byte, name string, closes bool, rest string) []byte {
	switch style := tagStyle[name]; {
	case style != 0 && closes:
		return r.aside(b, atom{style: style, turn: -1})
	case style != 0:
		return r.aside(b, atom{style: style, turn: 1})
	case name == "br":
		return r.aside(b, atom{text: "\n"})
	case name == "img":
		values := map[string]string{}
		for _, m := range attributes().FindAllStringSubmatch(rest, -1) {
			values[lower(m[1])] = html.UnescapeString(m[2] + m[3] + m[4])
		}
		return r.aside(b, atom{text: cmp.Or(values["title"], values["alt"], fileOf(values["src"])), style: Picture, url: values["src"]})
	}
	return b
}

// fileOf returns the name of the file at an address; a data: address has none.
func fileOf(url string) string {
	url, _, _ = strings.Cut(url, "?")
	if url == "" || strings.HasPrefix(lower(url), "data:") {
		return "picture"
	}
	return path.Base(url)
}

// lower returns s with ASCII's capitals in lower case, byte for byte, also those of atoms.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
