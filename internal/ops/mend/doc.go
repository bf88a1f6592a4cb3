// Package mend holds check and repair: what is wrong with chats, and what of it can be mended
// without guessing. Problems are found by internal/rules and mended here.
package mend
