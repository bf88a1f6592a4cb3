package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The time in a name is the user's own, as in SillyTavern, which takes the
// browser's.
func TestNamesHoldLocalTime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("TZ means nothing to Windows")
	}
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, []byte("{\"chat_metadata\":{}}\n{\"mes\":\"0\"}"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, zone := range []string{"UTC", "Asia/Kolkata", "Pacific/Kiritimati"} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip(err)
		}
		cmd := exec.Command("stchat", "branch", "--naming", "classic", "--json", path)
		cmd.Env = append(cmd.Environ(), "TZ="+zone)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Name string }
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatal(err)
		}
		told := strings.TrimPrefix(doc.Name, "Branch #0 - ")
		// SillyTavern's form has no decimal point for time.Parse to go by
		made, err := time.ParseInLocation("2006-01-02@15h04m05s", told[:min(len(told), len("2006-01-02@15h04m05s"))], location)
		if err != nil || time.Since(made).Abs() > time.Minute {
			t.Errorf("%s: %q is not the time there, %v", zone, doc.Name, err)
		}
	}
}
