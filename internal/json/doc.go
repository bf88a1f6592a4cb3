// Package json is the room of JSON values beside the lines of a chat: changes to a value as flags
// describe them (patch), the differences of two objects (metadiff), a value as JavaScript
// holds and prints it (jsvalue), and the documents that the program prints (jsondoc).
//
// Numbers keep their spelling and keys their order; a document never holds what would drive a
// terminal. Where one value of a line is looked up or edited as bytes, internal/jsonl/rawjson does it.
//
// It knows no files and no chats.
package json
