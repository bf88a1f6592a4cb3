package inspect

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl"
)

// count is an independent count of a chat: encoding/json on every line, read
// by SillyTavern's rules (getChatData in src/endpoints/chats.js), but for
// damage.
type count struct {
	Header                                                                        bool
	Messages, User, Character, System, Hidden, WithSwipes, Swipes, Breaks, Recaps int
	First, Last                                                                   string
	Longest                                                                       int64
	Text, SwipeBytes, SwipeInfo, Extra, Total                                     int64
	Checkpoints, Branches                                                         []Link
	Damage                                                                        []int // the first
	DamageTotal                                                                   int
	ExtraKeys                                                                     []Size
}

// isTrue is truth in JavaScript.
func isTrue(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		f, _ := strconv.ParseFloat(v.String(), 64)
		return f != 0
	}
	return true
}

func decode(raw []byte) (any, bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err == nil
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

// countFile counts the chat in data.
func countFile(t *testing.T, data []byte) count {
	t.Helper()
	var c count
	sizes := map[string]int64{}
	first := true
	for n, line := range bytes.Split(data, []byte("\n")) {
		bom := false
		if n == 0 {
			line, bom = bytes.CutPrefix(line, []byte("\xef\xbb\xbf"))
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.Trim(line, " \t\r")) == 0 {
			if bom {
				c.Damage = append(c.Damage, 1)
			}
			continue
		}
		c.Longest = max(c.Longest, int64(len(line)))
		v, ok := decode(line)
		m, isObject := v.(map[string]any)
		if !ok || !isObject {
			c.Damage = append(c.Damage, n+1)
			continue
		}
		if bom {
			c.Damage = append(c.Damage, 1)
		}
		if first {
			first = false
			_, hasMetadata := m["chat_metadata"]
			_, hasUser := m["user_name"]
			_, hasCharacter := m["character_name"]
			_, hasText := m["mes"]
			if hasMetadata || (hasUser || hasCharacter) && !hasText {
				c.Header = true
				if md, ok := m["chat_metadata"]; ok && md != nil && object(md) == nil {
					c.Damage = append(c.Damage, n+1)
				}
				continue
			}
		}
		c.message(t, line, m, sizes)
	}
	c.DamageTotal = len(c.Damage)
	c.Damage = c.Damage[:min(len(c.Damage), jsonl.MaxDamage)]
	for key, n := range sizes {
		c.ExtraKeys = append(c.ExtraKeys, Size{key, n})
	}
	sort.Slice(c.ExtraKeys, func(i, j int) bool {
		a, b := c.ExtraKeys[i], c.ExtraKeys[j]
		return a.Bytes > b.Bytes || a.Bytes == b.Bytes && a.Key < b.Key
	})
	c.ExtraKeys = c.ExtraKeys[:min(len(c.ExtraKeys), 5)]
	return c
}

func (c *count) message(t *testing.T, line []byte, m map[string]any, sizes map[string]int64) {
	t.Helper()
	at := c.Messages
	c.Messages++
	c.Total += int64(len(line))
	extra := object(m["extra"])
	if isTrue(m["is_system"]) && !isTrue(extra["type"]) {
		c.Hidden++
	}
	switch {
	case isTrue(extra["type"]), isTrue(m["is_system"]) && m["name"] == "System":
		c.System++
	case isTrue(m["is_user"]):
		c.User++
	default:
		c.Character++
	}
	if list, ok := m["swipes"].([]any); ok {
		c.Swipes += len(list)
		if len(list) > 1 {
			c.WithSwipes++
		}
	}
	date := ""
	switch v := m["send_date"].(type) {
	case string:
		date = v
	case json.Number:
		date = v.String()
	}
	if date != "" {
		if c.First == "" {
			c.First = date
		}
		c.Last = date
	}
	if s, ok := extra["bookmark_link"].(string); ok && s != "" {
		c.Checkpoints = append(c.Checkpoints, Link{At: at, Name: s})
	}
	list, _ := extra["branches"].([]any)
	for _, v := range list {
		if s, ok := v.(string); ok && s != "" {
			c.Branches = append(c.Branches, Link{At: at, Name: s})
		}
	}
	mark := map[string]any{}
	maps.Copy(mark, object(extra["auto_recap"]))
	maps.Copy(mark, object(extra["auto_recap_memory"]))
	if isTrue(mark["scene_break"]) && mark["scene_break_visible"] != false {
		c.Breaks++
	}
	if s, ok := mark["scene_recap_memory"].(string); ok && s != "" {
		c.Recaps++
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		t.Fatal(err)
	}
	c.Text += int64(len(raw["mes"]))
	c.SwipeBytes += int64(len(raw["swipes"]))
	c.SwipeInfo += int64(len(raw["swipe_info"]))
	c.Extra += int64(len(raw["extra"]))
	if extra == nil {
		return
	}
	// every time that a key is there, also where it is repeated
	dec := json.NewDecoder(bytes.NewReader(raw["extra"]))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			t.Fatal(err)
		}
		sizes[key.(string)] += int64(len(value))
	}
}

// counted puts a report into the form of a count.
func counted(r *Report) count {
	c := count{
		Header: r.Header == "modern" || r.Header == "legacy", Messages: r.Messages, User: r.User, Character: r.Character, System: r.System,
		Hidden: r.Hidden, WithSwipes: r.WithSwipes, Swipes: r.Swipes, Longest: r.Longest,
		Text: r.Parts.Text, SwipeBytes: r.Parts.Swipes, SwipeInfo: r.Parts.SwipeInfo, Extra: r.Parts.Extra,
		ExtraKeys: r.ExtraKeys,
	}
	c.Total = c.Text + c.SwipeBytes + c.SwipeInfo + c.Extra + r.Parts.Other
	for _, l := range r.Checkpoints {
		c.Checkpoints = append(c.Checkpoints, Link{At: l.At, Name: l.Name})
	}
	for _, l := range r.Branches {
		c.Branches = append(c.Branches, Link{At: l.At, Name: l.Name})
	}
	c.DamageTotal = r.DamageTotal
	for _, d := range r.Damage {
		c.Damage = append(c.Damage, d.Line)
	}
	if len(c.ExtraKeys) == 0 {
		c.ExtraKeys = nil
	}
	for _, e := range r.Extensions {
		if e, ok := e.(*autorecap.View); ok {
			c.Breaks, c.Recaps = e.Breaks, e.Recaps
		}
	}
	if r.FirstDate != nil {
		c.First, c.Last = *r.FirstDate, *r.LastDate
	}
	return c
}

// sameDate reports whether a date of a report is the one in the file, which is
// ISO 8601 wherever these tests compare dates.
func sameDate(got, want string) bool {
	if t, err := time.Parse(time.RFC3339Nano, want); err == nil {
		return got == t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return got == want
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// normal makes a count comparable: slices that are empty are nil.
func (c count) normal() count {
	for _, list := range []*[]Link{&c.Checkpoints, &c.Branches} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	c.Damage = slices.Clip(c.Damage)
	return c
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }
