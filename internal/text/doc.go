// Package text is the room of text itself: read as other programs write it (plain), made safe to show, with its width in cells (visible), words
// of any script and what a query means (words), numbers of things in English (plural), work
// that is shared and counted (progress), and regular expressions compiled when asked for (lazyregexp).
//
// It is the lowest room: nothing here imports another package of this program outside it.
package text
