// Package mend holds check and repair: what is wrong with chats, and what of it can
// be mended without guessing. How a thing is found is known to internal/rules, how
// it is mended is known here.
package mend
