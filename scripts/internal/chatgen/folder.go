package chatgen

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeFolder writes a user folder with n chats of one character; chat returns the bytes of each.
func writeFolder(dir string, n int, chat func(i int) []byte) error {
	if n < 1 {
		return fmt.Errorf("%d chats are none", n)
	}
	folder := filepath.Join(dir, "chats", "Mira")
	for _, path := range []string{folder, filepath.Join(dir, "worlds")} {
		err := os.MkdirAll(path, 0o755)
		if err != nil {
			return err
		}
	}
	for i := range n {
		name := fmt.Sprintf("Mira - 2025-06-01@12h00m00s%05dms.jsonl", i)
		err := os.WriteFile(filepath.Join(folder, name), chat(i), 0o644)
		if err != nil {
			return err
		}
	}
	return nil
}

// writer makes texts of messages.
type writer struct {
	*random
	sentences, foreign [][]byte
}

func newWriter(seed uint64) *writer {
	r := random(seed)
	return &writer{random: &r, sentences: sentences(&r, plainWords, 200), foreign: sentences(&r, foreignWords, 50)}
}

// sentence returns a sentence, escaped as in a JSON string.
func (w *writer) sentence() string {
	if w.below(5) == 0 {
		return string(w.foreign[w.below(len(w.foreign))])
	}
	return string(w.sentences[w.below(len(w.sentences))])
}
