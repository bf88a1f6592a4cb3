// Package jsvalue holds JSON values the way JavaScript does once it has parsed
// them, and writes them the way JSON.stringify does.
//
// stchat keeps other people's bytes as they are, for which package rawjson is
// enough. Two results can only be had by doing what SillyTavern and Luker do to a
// value in memory: the hash of a lorebook entry, which covers JSON.stringify of the
// parsed entry, and Luker's variables, whose operations parse,
// change and print values.
//
// So numbers are float64 and lose their spelling, a repeated key keeps its first
// place and its last value, and keys that look like list indexes come first and
// in order. Strings are as in package rawjson: UTF-8, a lone surrogate as its
// three WTF-8 bytes.
package jsvalue
