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
	// MostExact is the largest number of matching texts that are sorted by date.
	MostExact = 50_000
	// MostRanked is how many texts can be ranked.
	MostRanked = 200_000
)

// TooManyError means that more texts were found than can be ranked.
type TooManyError struct{ Found int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d texts have this, and at most %d can be ranked", e.Found, MostRanked)
}

// Want describes the texts to look for.
type Want struct {
	Query *words.Query
	Rank  bool // the best first, else the newest

	// If texts are not ranked, those without a place that meets all of these conditions are
	// left out. All places of the others are returned.
	Roles        []message.Who // any of them; empty: all
	Since, Until time.Time     // zero where they do not matter
	Swipes       bool          // also those that are not shown
}

// places returns the SQL condition of the wanted places, and its arguments.
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

// Use is a place of a text that was found.
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

// In returns the range of the places in a run of whole lines, as indexes into list.
func (list Uses) In(r history.Run) (from, to int) {
	at := func(piece int64) int {
		i, _ := slices.BinarySearchFunc(list, piece, func(u Use, piece int64) int { return int(min(1, max(-1, u.Piece-piece))) })
		return i
	}
	return at(r.First), at(r.First + r.Count)
}
