// Package chatgen makes SillyTavern chats of any size for benchmarks and for
// tests by hand: messages as SillyTavern 1.19 writes them, with swipes,
// swipe_info, reasoning, token counts and now and then a link, a hidden
// message or an inlined picture. A chat comes out as a stream; no more than
// one line is ever held.
//
// The same Options produce the same bytes, on every machine and with every
// version of Go: the package has its own random numbers. The text is made of
// sentences prepared once, already escaped, so that a gigabyte takes about a
// second.
//
// It uses none of stchat's own packages, so that what they read was not written
// by code they share.
package chatgen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options describe the chat to write.
type Options struct {
	// Messages is how many there are, damaged ones included. 0: as many as
	// Bytes has room for.
	Messages int
	// Bytes is how big the chat should be, met to about one in a hundred where
	// there are more than a few hundred messages; pictures come on top.
	// 0: what Messages come to at 2,960 bytes each.
	Bytes int64
	// Seed picks one chat among all that the other options allow.
	Seed uint64
	// NonASCII is the share of sentences, from 0 to 1, that are not plain
	// ASCII: Japanese, Russian, accents, emoji.
	NonASCII float64
	// Damage is the share of message lines, from 0 to 1, that are
	// damaged; Damaged lists how.
	Damage float64
	// Pictures is the share of messages, from 0 to 1, that carry a picture of
	// 5 to 20 MB in base64 within the line.
	Pictures float64
	// Links puts checkpoint and branch links to chats that do not exist on a
	// few messages.
	Links bool
	// Layout is one of Layouts, Encoding one of Encodings; "" stands for the usual ones. Damage comes
	// first, so that a damaged line is not indented.
	Layout, Encoding string
	// Name is the character's; "" stands for Mira.
	Name string
	// Begin is the date of the first message; zero stands for a day in 2026.
	Begin time.Time
}

// Stats counts what was written, so that a reader's counts can be compared.
type Stats struct {
	Bytes    int64   `json:"bytes"`    // in the file
	Messages int     `json:"messages"` // lines that are still whole messages
	User     int     `json:"user"`     // of these, is_user and not is_system
	System   int     `json:"system"`   // of these, is_system
	Swiped   int     `json:"swiped"`   // of these, with more than one swipe
	Damaged  Damaged `json:"damaged"`
}

// Damaged counts what Options.Damage did.
type Damaged struct {
	Torn  int `json:"torn"`  // lines cut off in the middle
	NUL   int `json:"nul"`   // lines lost to a run of NUL bytes
	Blank int `json:"blank"` // blank lines put before a message, which is whole
	CRLF  int `json:"crlf"`  // whole messages whose line ends in CR LF
}

const (
	usualLine  = 2960 // bytes of an average message, line end included
	minPicture = 5_000_000
	maxPicture = 20_000_000
)

// Write writes one chat to w, without a final newline. The error is w's, or
// names the option that makes no sense.
func Write(w io.Writer, o Options) (Stats, error) {
	switch {
	case o.Messages < 0 || o.Bytes < 0:
		return Stats{}, errors.New("a chat has no negative size")
	case o.Messages == 0 && o.Bytes == 0:
		return Stats{}, errors.New("neither messages nor bytes are given; one of them says how big the chat is")
	}
	for name, share := range map[string]float64{"nonascii": o.NonASCII, "damage": o.Damage, "pictures": o.Pictures} {
		if !(share >= 0 && share <= 1) {
			return Stats{}, fmt.Errorf("%s is a share from 0 to 1, not %v", name, share)
		}
	}
	if o.Messages == 0 {
		o.Messages = int(max(1, o.Bytes/usualLine))
	}
	if o.Bytes == 0 {
		o.Bytes = int64(o.Messages) * usualLine
	}
	if o.Name == "" {
		o.Name = "Mira"
	}
	if o.Begin.IsZero() {
		o.Begin = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)
	}
	out := bufio.NewWriterSize(w, 1<<20)
	f, err := newForm(out, o.Layout, o.Encoding)
	if err != nil {
		return Stats{}, err
	}
	stats, err := newGenerator(o).chat(f)
	if err != nil {
		return stats, err
	}
	if err := f.end(); err != nil {
		return stats, err
	}
	stats.Bytes = f.count
	return stats, out.Flush()
}

// chat writes the header and the messages, and damages some.
func (g *generator) chat(out io.Writer) (Stats, error) {
	stats := Stats{}
	line := g.header(nil)
	written, pictures := int64(len(line)), int64(0)
	if _, err := out.Write(line); err != nil {
		return stats, err
	}
	for i := range g.Messages {
		room := min((g.Bytes-(written-pictures))/int64(g.Messages-i), 1<<30)
		var kind kind
		line, kind = g.message(line[:0], i, int(room)-1)
		end := "\n"
		hurt := g.Damage > 0 && g.random.share() < g.Damage
		if hurt {
			line, end, kind = g.hurt(line, kind, &stats.Damaged)
		}
		if kind.whole {
			stats.Messages++
			switch {
			case kind.system:
				stats.System++
			case kind.user:
				stats.User++
			}
			if kind.swipes > 1 {
				stats.Swiped++
			}
		}
		// A line's end is written with the next line: the last one has none.
		if _, err := io.WriteString(out, g.pending); err != nil {
			return stats, err
		}
		if _, err := out.Write(line); err != nil {
			return stats, err
		}
		written += int64(len(g.pending) + len(line))
		pictures += int64(kind.picture)
		g.pending = end
	}
	return stats, nil
}

// hurt does to a line one of the things that happen to chat files.
func (g *generator) hurt(line []byte, k kind, d *Damaged) (hurt []byte, end string, after kind) {
	after = k
	switch g.random.below(4) {
	case 0:
		d.Torn++
		after.whole, after.picture = false, 0
		line = line[:1+g.random.below(len(line)-2)]
	case 1:
		d.NUL++
		after.whole, after.picture = false, 0
		line = append(line[:0], make([]byte, 1+g.random.below(4096))...)
	case 2:
		d.Blank++
		line = append(line, "\n"...)
		copy(line[1:], line[:len(line)-1])
		line[0] = '\n'
	default:
		d.CRLF++
		return line, "\r\n", after
	}
	return line, "\n", after
}
