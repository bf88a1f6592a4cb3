package align

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Op is what became of a piece of text.
type Op int

// The ops.
const (
	Same Op = iota
	Removed
	Added
)

// Piece is a part of one of two texts, or of both.
type Piece struct {
	Op   Op
	Text string
}

// longest is how many words may differ before the old text is followed by the new one.
const longest = 2000

// Words compares two texts word by word. A word is a run of letters and digits, one of spaces, or
// one other character. Texts that have too little in common are the old one and then the new one.
func Words(a, b string) []Piece {
	x, y := split(a), split(b)
	head, tail := Ends(len(x), len(y), func(i, j int) bool { return x[i] == y[j] })
	midX, midY := x[head:len(x)-tail], y[head:len(y)-tail]

	var pairs []Pair
	if len(midX)+len(midY) <= longest {
		pairs = common(len(midX), len(midY), func(i, j int) bool { return midX[i] == midY[j] })
	}
	shared := 0 // words that are more than space
	for _, p := range pairs {
		if !isBlank(midX[p.A]) {
			shared++
		}
	}

	if 3*shared < min(countWords(midX), countWords(midY)) {
		pairs = nil
	}

	var list []Piece // neighbours of one kind become one
	add := func(op Op, words []string) {
		for _, word := range words {
			if n := len(list); n > 0 && list[n-1].Op == op {
				list[n-1].Text += word
			} else {
				list = append(list, Piece{op, word})
			}
		}
	}

	add(Same, x[:head])
	from := Pair{}
	for _, p := range append(pairs, Pair{len(midX), len(midY)}) {
		add(Removed, midX[from.A:p.A])
		add(Added, midY[from.B:p.B])
		if p.A < len(midX) {
			add(Same, midX[p.A:p.A+1])
		}
		from = Pair{p.A + 1, p.B + 1}
	}

	add(Same, x[len(x)-tail:])
	return list
}

func isBlank(word string) bool {
	c, _ := utf8.DecodeRuneInString(word)
	return unicode.IsSpace(c)
}

// countWords counts the words that are more than space.
func countWords(words []string) (n int) {
	for _, word := range words {
		if !isBlank(word) {
			n++
		}
	}
	return n
}

// split cuts a text into words.
func split(s string) (words []string) {
	kind := func(c rune) int {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), unicode.IsMark(c):
			return 1
		case unicode.IsSpace(c) && c != '\n':
			return 2
		}
		return 0
	}

	from := 0
	last := 0 // the kind of the character before
	for i, c := range s {
		k := kind(c)
		begins := k != last || k == 0
		if i > from && begins {
			words = append(words, s[from:i])
			from = i
		}
		last = k
	}

	if from < len(s) {
		words = append(words, s[from:])
	}
	return words
}

// Part is a part of two texts that begins and ends with a paragraph of both.
type Part struct {
	Pieces []Piece
	Same   int // how many paragraphs it has, if nothing in it differs
}

// Parts divides two texts into parts that differ and parts that do not. A paragraph is a line.
// Blank ones that do not differ are left out.
func Parts(pieces []Piece) (parts []Part) {
	var part []Piece
	end := func() {
		n := len(parts) - 1
		switch {
		case len(part) == 0:
		case len(part) != 1 || part[0].Op != Same:
			parts = append(parts, Part{Pieces: part})
		case strings.TrimSpace(part[0].Text) == "":
		case n >= 0 && parts[n].Same > 0:
			parts[n] = Part{append(parts[n].Pieces, part...), parts[n].Same + 1}
		default:
			parts = append(parts, Part{part, 1})
		}

		part = nil
	}

	ends := [2]bool{true, true} // whether a paragraph ends here, in the old text and in the new one
	for _, piece := range pieces {
		if piece.Op != Same {
			part = append(part, piece)
			ends[piece.Op-Removed] = strings.HasSuffix(piece.Text, "\n")
			continue
		}

		for text := range strings.Lines(piece.Text) {
			if ends[0] && ends[1] {
				end()
			}
			part = append(part, Piece{Text: text})
			ends[0] = strings.HasSuffix(text, "\n")
			ends[1] = ends[0]
		}

		if ends[0] {
			end()
		}
	}

	end()
	return parts
}
