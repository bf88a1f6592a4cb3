package chatgen

import (
	"strconv"
	"time"
)

// A generator writes one chat's lines into a buffer it is given.
type generator struct {
	Options
	random  random
	plain   [][]byte // sentences, escaped for JSON
	foreign [][]byte // the same, with letters beyond ASCII
	base64  []byte   // what pictures are cut from
	clock   time.Time
	owed    float64 // pictures due by now
	makeUp  int     // size of the next picture, where the last one decided it
	pending string  // end of the line before
}

// A kind describes what a line has become.
type kind struct {
	whole, user, system bool
	swipes              int
	picture             int // bytes of the line that are picture
}

func newGenerator(o Options) *generator {
	g := &generator{Options: o, random: random(o.Seed), clock: o.Begin, pending: "\n"}
	g.plain = sentences(&g.random, plainWords, 700)
	g.foreign = sentences(&g.random, foreignWords, 200)
	if o.Pictures > 0 {
		g.base64 = base64Block(&g.random, 1<<20)
	}
	return g
}

func (g *generator) header(b []byte) []byte {
	b = append(b, `{"chat_metadata":{"integrity":"`...)
	b = g.random.uuid(b)
	b = append(b, `","note_prompt":"","note_interval":1,"note_position":1,"note_depth":4,"note_role":0,"tainted":true,"variables":{"turn":"`...)
	b = strconv.AppendInt(b, int64(g.Messages), 10)
	return append(b, `"}},"user_name":"unused","character_name":"unused"}`...)
}

// message appends message i, of about room bytes, and returns what it is.
func (g *generator) message(b []byte, i, room int) ([]byte, kind) {
	picture := 0
	g.owed += g.Pictures
	if g.owed >= 1 {
		g.owed--
		picture = g.pictureSize()
	}
	// A user's message is shorter than a character's, and both vary. The
	// factors keep the average at room.
	if i%2 == 1 {
		return g.user(b, g.vary(room*2/5), picture)
	}
	return g.character(b, i, g.vary(room*8/5), picture)
}

// pictureSize returns a size from minPicture to maxPicture. Every second one makes up
// for the one before, so that few pictures have the same average as many.
func (g *generator) pictureSize() int {
	size := g.makeUp
	g.makeUp = 0
	if size == 0 {
		size = minPicture + g.random.below(maxPicture-minPicture+1)
		g.makeUp = minPicture + maxPicture - size
	}
	return size
}

// vary returns a length around n: half to one and a half times.
func (g *generator) vary(n int) int {
	n = max(n, 0)
	return n/2 + g.random.below(n+1)
}

// user appends a message of the user's; some are hidden.
func (g *generator) user(b []byte, room, picture int) ([]byte, kind) {
	k := kind{whole: true, user: true, system: g.random.below(40) == 0}
	g.pass(20 + g.random.below(400))
	b = append(b, `{"name":"Tester","is_user":true,"is_system":`...)
	b = strconv.AppendBool(b, k.system)
	b = append(b, `,"send_date":"`...)
	b = g.date(b)
	b = append(b, `","mes":"`...)
	b = g.text(b, room-230)
	b = append(b, `","extra":{"isSmallSys":false`...)
	b, k.picture = g.picture(b, picture)
	return append(b, `},"force_avatar":"/thumbnail?type=persona&file=user-default.png"}`...), k
}

// character appends a message of the character's, with its swipes.
func (g *generator) character(b []byte, i, room, picture int) ([]byte, kind) {
	k := kind{whole: true, swipes: 1}
	if g.random.below(3) == 0 {
		k.swipes += 1 + g.random.below(3)
	}
	chosen := g.random.below(k.swipes)
	reasoned := g.random.below(6) == 0
	// The text is there twice: as mes, and in swipes. What a model thought is
	// in extra and in the chosen swipe's info.
	texts := k.swipes + 1
	if reasoned {
		texts += 2
	}
	each := (room - 330 - 190*k.swipes) / texts

	g.pass(5 + g.random.below(60))
	b = append(b, `{"name":"`...)
	b = append(b, g.Name...)
	b = append(b, `","is_user":false,"is_system":false,"send_date":"`...)
	from := len(b)
	b = g.date(b)
	date := [2]int{from, len(b)}
	b = append(b, `","mes":"`...)
	from = len(b)
	b = g.text(b, each)
	mes := [2]int{from, len(b)}
	b = append(b, `","extra":`...)
	from = len(b)
	b = append(b, `{"api":"openai","model":"saltmarsh-24b-instruct"`...)
	if reasoned {
		b = append(b, `,"reasoning":"`...)
		b = g.text(b, each)
		b = append(b, `","reasoning_duration":`...)
		b = strconv.AppendInt(b, int64(700+g.random.below(30000)), 10)
	}
	b = append(b, `,"time_to_first_token":`...)
	b = strconv.AppendInt(b, int64(300+g.random.below(4000)), 10)
	b = append(b, `,"token_count":`...)
	b = strconv.AppendInt(b, int64(1+(mes[1]-mes[0])/4), 10)
	extra := [2]int{from, len(b)} // without its brace: more may follow in the message's own
	b = g.links(b, i)
	b, k.picture = g.picture(b, picture)
	b = append(b, `},"gen_started":"`...)
	b = append(b, b[date[0]:date[1]]...)
	b = append(b, `","gen_finished":"`...)
	b = append(b, b[date[0]:date[1]]...)
	b = append(b, `","swipe_id":`...)
	b = strconv.AppendInt(b, int64(chosen), 10)
	b = append(b, `,"swipes":["`...)
	for s := range k.swipes {
		if s > 0 {
			b = append(b, `","`...)
		}
		if s == chosen {
			b = append(b, b[mes[0]:mes[1]]...)
		} else {
			b = g.text(b, each)
		}
	}
	b = append(b, `"],"swipe_info":[`...)
	for s := range k.swipes {
		if s > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"send_date":"`...)
		b = append(b, b[date[0]:date[1]]...)
		b = append(b, `","gen_started":null,"gen_finished":null,"extra":`...)
		if s == chosen {
			b = append(b, b[extra[0]:extra[1]]...)
			b = append(b, `}}`...)
		} else {
			b = append(b, `{"api":"openai","model":"saltmarsh-24b-instruct"}}`...)
		}
	}
	return append(b, `]}`...), k
}

// links appends a link to a few messages' extra.
func (g *generator) links(b []byte, i int) []byte {
	if !g.Links {
		return b
	}
	switch g.random.below(2000) {
	case 0:
		b = append(b, `,"bookmark_link":"Checkpoint #`...)
	case 1:
		b = append(b, `,"branches":["Branch #`...)
		b = strconv.AppendInt(b, int64(i), 10)
		return append(b, `"]`...)
	default:
		return b
	}
	b = strconv.AppendInt(b, int64(i), 10)
	return append(b, '"')
}

// picture appends size bytes of base64 as an inlined picture. It returns the line and
// the bytes it took.
func (g *generator) picture(b []byte, size int) ([]byte, int) {
	if size == 0 {
		return b, 0
	}
	from := len(b)
	b = append(b, `,"inline_image":true,"image":"data:image/png;base64,iVBORw0KGgo`...)
	for left := size; left > 0; {
		n := min(left, len(g.base64)/2)
		at := g.random.below(len(g.base64) - n + 1)
		b = append(b, g.base64[at:at+n]...)
		left -= n
	}
	b = append(b, '"')
	return b, len(b) - from
}

// text appends about n bytes of sentences.
func (g *generator) text(b []byte, n int) []byte {
	end := len(b) + n
	for first := true; first || len(b)+40 < end; first = false {
		pool := g.plain
		if g.NonASCII > 0 && g.random.share() < g.NonASCII {
			pool = g.foreign
		}
		if !first {
			if g.random.below(5) == 0 {
				b = append(b, `\n\n`...)
			} else {
				b = append(b, ' ')
			}
		}
		b = append(b, pool[g.random.below(len(pool))]...)
	}
	return b
}

// pass advances the clock.
func (g *generator) pass(seconds int) {
	g.clock = g.clock.Add(time.Duration(seconds)*time.Second + time.Duration(g.random.below(1000))*time.Millisecond)
}

func (g *generator) date(b []byte) []byte {
	return g.clock.AppendFormat(b, "2006-01-02T15:04:05.000Z")
}
