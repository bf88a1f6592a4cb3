package wordindex

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stchat/internal/history"
	"stchat/internal/message"
	"stchat/internal/words"
)

const (
	// MostExact is of how many texts that have a query the newest are known.
	MostExact = 50_000
	// MostRanked is how many texts can be ranked.
	MostRanked = 200_000
)

// TooManyError says that more texts were found than can be ranked.
type TooManyError struct{ Found int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d texts have this, and at most %d can be ranked", e.Found, MostRanked)
}

// Want says which texts are looked for.
type Want struct {
	Query *words.Query
	Rank  bool // the best first, else the newest

	// Texts without a place that has all of this are left out. The places of the others are
	// returned whatever they have.
	Roles        []message.Who // any of them; empty: all
	Since, Until time.Time     // zero where they do not matter
	Swipes       bool          // also those that are not shown
}

// places returns a condition of the places that are looked for.
func (w *Want) places() (condition string, args []any) {
	all := []string{"1"}
	if !w.Swipes {
		all = append(all, "u.chosen")
	}
	if len(w.Roles) > 0 {
		all = append(all, "u.role IN ("+strings.Trim(strings.Repeat("?,", len(w.Roles)), ",")+")")
		for _, role := range w.Roles {
			args = append(args, slices.Index(roles(), role))
		}
	}
	if !w.Since.IsZero() {
		all, args = append(all, "u.at >= ?"), append(args, w.Since.UnixMilli())
	}
	if !w.Until.IsZero() {
		all, args = append(all, "u.at <= ?"), append(args, w.Until.UnixMilli())
	}
	return strings.Join(all, " AND "), args
}

// Use is a place where a text that was found stands.
type Use struct {
	Text   uint64 // its [Hash]
	Piece  int64  // the line
	Number int64  // of the text, in the order of archiving
	Swipe  int
	Chosen bool
	Said
	Score float32 // of the text, where texts are ranked
}

// Uses are the places of some texts, by piece.
type Uses []Use

// In returns where those begin and end that stand in a run of whole lines.
func (list Uses) In(r history.Run) (from, to int) {
	at := func(piece int64) int {
		i, _ := slices.BinarySearchFunc(list, piece, func(u Use, piece int64) int { return int(min(1, max(-1, u.Piece-piece))) })
		return i
	}
	return at(r.First), at(r.First + r.Count)
}
