package card

import (
	"os"
	"path/filepath"
	"testing"

	"stchat/internal/place/userdir"
)

// SillyTavern takes the first ".png" out of a card's name, wherever it stands.
func TestFindByTheRuleOfSillyTavern(t *testing.T) {
	dir := userdir.Dir{Root: t.TempDir()}
	if err := os.Mkdir(dir.Characters(), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Mira.png", "a.png b.png", "Ines.json"} {
		if err := os.WriteFile(filepath.Join(dir.Characters(), name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]string{"Mira": "Mira.png", "a b.png": "a.png b.png", "Ines": "Ines.json", "a.png b": "", "b": ""} {
		path, err := Find(dir, folder)
		if got := filepath.Base(path); want != "" && (got != want || err != nil) || want == "" && err == nil {
			t.Errorf("the card of %q is %q (%v), want %q", folder, got, err, want)
		}
	}
}
