package main

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"unicode/utf16"
)

// stringHash is SillyTavern's getStringHash (public/scripts/utils.js): cyrb53
// with seed 0, over UTF-16 units.
func stringHash(s string) int64 {
	h1, h2 := uint32(0xdeadbeef), uint32(0x41c6ce57)
	for _, unit := range utf16.Encode([]rune(s)) {
		h1 = (h1 ^ uint32(unit)) * 2654435761
		h2 = (h2 ^ uint32(unit)) * 1597334677
	}
	h1 = (h1^h1>>16)*2246822507 ^ (h2^h2>>13)*3266489909
	h2 = (h2^h2>>16)*2246822507 ^ (h1^h1>>13)*3266489909
	return int64(h2&0x1fffff)<<32 | int64(h1)
}

// shortHash is the 32-bit hash both extensions here use, its absolute value
// in base 36.
func shortHash(s string) string {
	var h int32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = h<<5 - h + int32(unit)
	}
	n := int64(h)
	if n < 0 {
		n = -n
	}
	return strconv.FormatInt(n, 36)
}

// promptID returns Auto-Illustrator's id of a prompt (FORMATS C1): the message's
// index is part of what is hashed.
func promptID(text string, message, prompt int) string {
	return "prompt_" + shortHash(fmt.Sprintf("%s|%d|%d", text, message, prompt))
}

// slug makes the integrity UUID of a chat: version 4 by its bits, and always
// the same for the same chat.
func slug(chat string) string {
	sum := sha256.Sum256([]byte(chat))
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
