package history

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// changedAt makes a store with one version, changes a byte of its file, and returns its path.
func changedAt(t *testing.T, change func(data []byte)) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "history.db")
	s, err := OpenWrite(t.Context(), path, dir, noon)
	if err != nil {
		t.Fatal(err)
	}
	take(t, s, "a", chatOf("a", 0, 20))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(data)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A version of the format that SQLite does not know keeps it from writing; verify says so.
func TestVerifyHeader(t *testing.T) {
	path := changedAt(t, func(data []byte) { data[writeVersion] = 0x21 })
	s, err := OpenRead(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var texts []string
	err = Verify(t.Context(), s, func(p Problem) error {
		texts = append(texts, p.Text)
		return nil
	})
	if err != nil || len(texts) != 1 || !strings.Contains(texts[0], "byte 18 is 33") {
		t.Errorf("%v, %q", err, texts)
	}
}

// A letter that is changed in what a table is made of is damage of the history, not a fault of SQL.
func TestChangedTable(t *testing.T) {
	path := changedAt(t, func(data []byte) {
		at := strings.Index(string(data), "CREATE TABLE version")
		if at < 0 {
			t.Fatal("there is no table of versions")
		}
		column := at + strings.Index(string(data[at:]), "sum")
		data[column] = 'x'
	})
	s, err := OpenRead(t.Context(), path)
	if err == nil {
		_, err = s.Versions(t.Context(), 1)
		_ = s.Close()
	}
	if !errors.Is(err, ErrBroken) {
		t.Errorf("reading says %v", err)
	}
}
