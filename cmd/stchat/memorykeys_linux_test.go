package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// manyKeys returns an object of n short keys, which all differ.
func manyKeys(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, ",\"%05x\":0", i)
	}
	b.Bytes()[0] = '{'
	return append(b.Bytes(), '}')
}

// However many keys a line has, what is kept of it is at most 16 times its size.
func TestLineOfManyKeys(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("parses lines of 2 MB again and again, and the race detector needs memory of its own")
	}
	keys := manyKeys(200_000)
	most := int64(plainPeak + 16*len(keys))
	dir := t.TempDir()
	chat := func(name, header, message string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(header+"\n"+message+"\n"+`{"name":"Ines","is_user":true,"mes":"y"}`), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const message = `{"name":"Mira","is_user":false,"mes":"x"}`
	inMessage := chat("message.jsonl", `{"chat_metadata":{},"user_name":"unused"}`, `{"name":"Mira","is_user":false,"mes":"x",`+string(keys[1:]))
	inExtra := chat("extra.jsonl", `{"chat_metadata":{},"user_name":"unused"}`, `{"name":"Mira","is_user":false,"mes":"x","extra":`+string(keys)+`}`)
	inHeader := chat("header.jsonl", `{"chat_metadata":{},"user_name":"unused",`+string(keys[1:]), message)
	inMetadata := chat("metadata.jsonl", `{"chat_metadata":`+string(keys)+`,"user_name":"unused"}`, message)
	more := chat("more.jsonl", `{"chat_metadata":`+string(keys[:len(keys)-1])+`,"more":{}},"user_name":"unused"}`, message)
	for _, args := range [][]string{
		{"inspect", inMessage},
		{"inspect", inHeader},
		{"inspect", inMetadata},
		{"inspect", "--json", inMetadata},
		{"check", inMessage},
		{"check", inHeader},
		{"check", inMetadata},
		{"repair", inMessage},
		{"repair", inHeader},
		{"repair", inMetadata},
		{"checkpoint", inMessage, "-a", "0", "--link", "--isolate", "--dry-run"},
		{"checkpoint", inExtra, "-a", "0", "--isolate", "--dry-run"},
		{"checkpoint", inHeader, "-a", "0", "--link", "--isolate", "--dry-run"},
		{"checkpoint", inMetadata, "-a", "0", "--link", "--isolate", "--dry-run"},
		{"diff-meta", inMetadata, inMetadata},
		{"diff-meta", "--format", "merge-patch", "--only", "00*", inMetadata, more},
		{"show", inMessage, "-a", "0"},
		{"edit", inMessage, "-a", "0", "--set", "name=Zoe", "--dry-run"},
		{"edit", inHeader, "-a", "0", "--set", "name=Zoe", "--dry-run"},
		{"edit", inMetadata, "-a", "0", "--set", "name=Zoe", "--dry-run"},
		{"meta", "get", inMetadata, "00000"},
		{"meta", "set", inHeader, "--set", "note_depth=1", "--dry-run"},
		{"meta", "set", inMetadata, "--set", "note_depth=1", "--dry-run"},
	} {
		most := most
		if args[0] == "diff-meta" {
			most += int64(16 * len(keys)) // it holds two lines
		}
		got := least(most, func() int64 { return peak(t, args...) })
		if got > most {
			t.Errorf("%q: %d bytes at the peak, want %d at most", args, got, most)
		}
		t.Logf("%s %s: %d of %d", args[0], args[1], got, most)
	}
}
