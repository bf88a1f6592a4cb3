package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stchat/internal/json/jsondoc"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/place/sendate"
)

// turn is a message of an openai line.
type turn struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Name      string `json:"name,omitempty"`
	Reasoning string `json:"reasoning_content,omitempty"`
}

// exchange is a message of a sharegpt line.
type exchange struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// Row is a message as a row of a table: always all keys, each of one type or null.
type Row struct {
	Path       string  `json:"path" is:"path"`
	Owner      string  `json:"owner"`
	Kind       string  `json:"kind"`
	Chat       string  `json:"chat"`
	MainChat   *string `json:"main_chat"`
	Index      *int    `json:"index"`
	Role       string  `json:"role"`
	Name       *string `json:"name"`
	Date       *string `json:"date"` // RFC 3339 in UTC
	Hidden     bool    `json:"hidden"`
	Text       *string `json:"text"`
	Reasoning  *string `json:"reasoning"`
	Swipe      int     `json:"swipe"` // from 1
	Swipes     int     `json:"swipes"`
	Model      *string `json:"model"`
	API        *string `json:"api"`
	Tokens     *int    `json:"tokens"`
	GenMS      *int64  `json:"gen_ms"`
	Bytes      int     `json:"bytes"` // of the stored line
	Checkpoint *string `json:"checkpoint"`
	Branches   *string `json:"branches"` // a list, as JSON text
}

// chosenRow is a row of --swipes.
type chosenRow struct {
	Row
	Chosen bool `json:"chosen"`
}

// printer writes the lines of one chat.
type printer struct {
	*exporter
	*facts
	w       io.Writer
	encoder jsondoc.Encoder
	line    bytes.Buffer
	address *regexp.Regexp // with data in base64: where any other one ends, nobody can tell
	turns   int            // that are written
}

// lines writes a chat that survey has read.
func (e *exporter) lines(ctx context.Context, f *facts, w io.Writer) error {
	d := &f.Doc
	p := &printer{exporter: e, facts: f, w: w, address: regexp.MustCompile(`\bdata:[\w.+-]+/[\w.+-]+(?:;[\w.+=-]+)*;base64,[\w+/=%-]+`)}
	open, end := "", ""
	switch e.Format {
	case OpenAI:
		open, end = `{"messages":[`, "]}\n"
	case ShareGPT:
		open, end = `{"conversations":[`, "]}\n"
	}
	if _, err := io.WriteString(w, open); err != nil {
		return err
	}
	if e.System != "" && e.Format != Rows {
		if err := p.turn(turn{Role: "system", Content: p.text(e.System)}); err != nil {
			return err
		}
	}

	_, err := look.Messages(ctx, look.Exported(&e.Export, d.Path), func(m *look.Message) error {
		role, ok := e.exports(f, m)
		if !ok {
			return nil
		}
		isMended := !utf8.Valid(m.Raw.Text) && m.Text != nil && utf8.ValidString(*m.Text)
		if isMended { // else it is counted when it is written
			d.Bad++
		}
		if e.Format == Rows {
			return p.rows(m)
		}
		return p.turn(p.turnOf(m, role))
	})
	if err == nil && e.Format != Rows {
		d.Lines = 1
		_, err = io.WriteString(w, end)
	}
	return err
}

// turnOf returns a message as a turn.
func (p *printer) turnOf(m *look.Message, role string) turn {
	t := turn{Role: role}
	if m.Text != nil {
		t.Content = p.text(*m.Text)
	}
	if role == "assistant" && len(p.characters) > 1 && m.Name != nil {
		name := *m.Name
		for _, s := range p.macros {
			if s.name == name {
				name = s.macro
			}
		}
		t.Name = plain(name)
	}

	if p.Reasoning && m.Reasoning != nil && *m.Reasoning != "" {
		reasoning := p.text(*m.Reasoning)
		if p.Format == ShareGPT { // it has no field for that
			t.Content = "<think>\n" + reasoning + "\n</think>\n\n" + t.Content
		} else {
			t.Reasoning = reasoning
		}
	}
	return t
}

// turn writes a turn, behind a comma unless it is the first.
func (p *printer) turn(t turn) error {
	var doc any = t
	if p.Format == ShareGPT {
		doc = exchange{map[string]string{"system": "system", "user": "human", "assistant": "gpt"}[t.Role], t.Content}
	}
	p.line.Reset()
	p.turns++
	if p.turns > 1 {
		p.line.WriteByte(',')
	}
	if err := p.encoder.Write(&p.line, doc, ""); err != nil {
		return err
	}
	_, err := p.w.Write(bytes.TrimSuffix(p.line.Bytes(), []byte("\n")))
	return err
}

// rows writes the rows of a message.
func (p *printer) rows(m *look.Message) error {
	r := Row{
		Path:       m.Path,
		Owner:      p.owner,
		Kind:       p.kind,
		Chat:       p.name,
		MainChat:   p.mainChat,
		Index:      m.Index,
		Role:       m.Role,
		Name:       p.maybe(m.Name),
		Hidden:     m.Hidden,
		Text:       p.maybe(m.Text),
		Swipe:      ops.Or(m.Swipe, 1),
		Swipes:     max(1, m.Swipes),
		Bytes:      len(m.Stored),
		Checkpoint: p.Doc.valid(m.Checkpoint),
	}

	p.made(&r, m.Stored, p.maybe(m.Reasoning))
	if at, ok := m.Time(); ok {
		r.Date = new(at.UTC().Format(time.RFC3339Nano))
	}
	if len(m.Branches) > 0 {
		var list [][]byte
		for _, name := range m.Branches {
			list = append(list, rawjson.Quote(*p.Doc.valid(&name)))
		}
		r.Branches = new("[" + string(bytes.Join(list, []byte(","))) + "]")
	}

	if !p.Swipes {
		p.Doc.Lines++
		return p.encoder.Write(p.w, r, "")
	}

	chosen := r.Swipe
	texts := m.SwipeTexts
	saysSwipe := m.Swipe != nil || len(texts) == 0
	saysNothing := m.Text == nil || *m.Text == ""
	switch {
	case len(texts) == 0:
		texts = []*string{m.Text}
	case !saysSwipe && saysNothing: // a swipe that was cancelled before it came
		chosen = 0
	case !saysSwipe: // what it says is none of its swipes
		texts = append(slices.Clone(texts), m.Text)
		chosen = len(texts)
	}
	infos := slices.Collect(rawjson.Elements(rawjson.Value(m.Stored, "swipe_info")))
	for i, text := range texts {
		row := chosenRow{r, i+1 == chosen}
		row.Swipe = i + 1
		if !row.Chosen {
			var info []byte
			if i < len(infos) {
				info = infos[i]
			}
			row.Text = p.maybe(text)
			p.made(&row.Row, info, p.maybe(rawjson.TextOrNil(rawjson.Value(info, "extra", "reasoning"))))
		}

		p.Doc.Lines++
		if err := p.encoder.Write(p.w, row, ""); err != nil {
			return err
		}
	}
	return nil
}

// made fills in how a text was made; from is the message, or the swipe_info of a swipe.
func (p *printer) made(r *Row, from []byte, reasoning *string) {
	var extra, began, ended, model, api, tokens []byte
	rawjson.Into(from, []string{"extra", "gen_started", "gen_finished"}, &extra, &began, &ended)
	rawjson.Into(extra, []string{"model", "api", "token_count"}, &model, &api, &tokens)

	r.Model = p.Doc.valid(rawjson.TextOrNil(model))
	r.API = p.Doc.valid(rawjson.TextOrNil(api))
	r.Tokens = rawjson.IntOrNil(tokens)
	r.Reasoning = reasoning

	r.GenMS = nil
	start, started := sendate.ParseRaw(began)
	end, finished := sendate.ParseRaw(ended)
	if started && finished && !end.Before(start) {
		r.GenMS = new(end.Sub(start).Milliseconds())
	}
}

func (p *printer) maybe(s *string) *string {
	if s == nil {
		return nil
	}
	return new(p.text(*s))
}

// text returns a text as it is written: UTF-8, without the data of addresses that hold it in base64,
// and with macros for names.
func (p *printer) text(s string) string {
	s = *p.Doc.valid(&s)
	if strings.Contains(s, "data:") {
		s = p.address.ReplaceAllStringFunc(s, func(address string) string {
			return fmt.Sprintf("%s;… (%d bytes)", address[:strings.IndexAny(address, ";,")], len(address))
		})
	}
	if len(p.macros) > 0 {
		s = substitute(s, p.macros)
	}
	return s
}

// plain returns a name as chat completion APIs take it.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		isWord := unicode.IsLetter(r) || unicode.IsDigit(r)
		if r == '-' || isWord && r < utf8.RuneSelf {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 64)]
}

// substitution is a macro for a name.
type substitution struct{ name, macro string }

// substitutions returns the macros for the names of a chat, the longest name first.
func substitutions(users, characters []string, group bool) (list []substitution) {
	for _, name := range users {
		list = append(list, substitution{name, "{{user}}"})
	}
	for i, name := range characters {
		macro := "{{char}}"
		if group && i > 0 {
			macro = fmt.Sprintf("{{char%d}}", i+1)
		}
		list = append(list, substitution{name, macro})
	}

	list = slices.DeleteFunc(list, func(s substitution) bool { return s.name == "" })
	slices.SortStableFunc(list, func(a, b substitution) int { return len(b.name) - len(a.name) })
	return list
}

// substitute puts macros in the places of names that stand as whole words.
func substitute(s string, list []substitution) string {
	var b strings.Builder
	before := rune(' ')
	for s != "" {
		if sub, ok := nameAt(s, before, list); ok {
			b.WriteString(sub.macro)
			s = s[len(sub.name):]
			before = '}'
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		b.WriteString(s[:size])
		s = s[size:]
		before = r
	}
	return b.String()
}

// nameAt returns the first of the names with which s begins as a whole word; before is what stands
// before s.
func nameAt(s string, before rune, list []substitution) (substitution, bool) {
	if inWord(before) {
		return substitution{}, false
	}
	for _, sub := range list {
		rest, ok := strings.CutPrefix(s, sub.name)
		next, _ := utf8.DecodeRuneInString(rest)
		endsWord := rest == "" || !inWord(next)
		if ok && endsWord {
			return sub, true
		}
	}
	return substitution{}, false
}

// inWord reports whether a rune beside a name makes it a part of a word.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
