package keep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
)

// kept is a life whose chats are backed up by SillyTavern, too, and what of them is still to be
// had somewhere.
type kept struct {
	*life
	of       map[string]int // of which chat each content is
	evidence map[int]map[string]bool
	onDisk   map[string]string // backups that SillyTavern has not deleted yet, and what they hold

	stored bool

	claimed, right, gone, found, commands int
}

// said returns the texts of a chat's messages, without the greeting.
func said(data string) (texts []string) {
	for line := range strings.Lines(data) {
		var m struct{ Mes string }
		if json.Unmarshal([]byte(line), &m) == nil && m.Mes != "" && !strings.HasPrefix(m.Mes, "The greeting") {
			texts = append(texts, m.Mes)
		}
	}
	return texts
}

// note remembers what can be had of a chat.
func (k *kept) note(id int, data string) {
	k.of[data] = id
	if k.evidence[id] == nil {
		k.evidence[id] = map[string]bool{}
	}
	for _, text := range said(data) {
		k.evidence[id][text] = true
	}
}

// backUp makes SillyTavern's backup of a chat.
func (k *kept) backUp(c *livingChat) {
	name := path.Base(path.Dir(c.path))
	if name == "group chats" {
		name = userdir.ChatName(c.path)
	}
	k.now = k.now.Add(time.Second)
	file := fmt.Sprintf("backups/chat_%s_%s.jsonl", backups.Keys(name)[0], k.now.Local().Format("20060102-150405"))
	k.onDisk[file] = string(k.read(c.path))
	k.of["backup "+k.onDisk[file]] = c.id
	k.put(file, k.onDisk[file])
}

// round is what happens between two snapshots.
func (k *kept) round() {
	for range 1 + k.rnd.IntN(5) {
		k.live()
		for range k.rnd.IntN(3) {
			if c := k.chats[k.rnd.IntN(len(k.chats))]; !c.gone && c.path != "" {
				k.backUp(c)
			}
		}
	}
	if !k.stored {
		for _, c := range k.chats {
			c.touched = false
		}
		return
	}
	for _, c := range k.chats {
		c.touched = false
		if !c.gone {
			k.note(c.id, string(k.read(c.path)))
		}
	}
	opt := SnapshotOptions{List: ops.List{Paths: []string{k.root}}, Now: k.now, Rescan: k.rescan, Backups: k.rnd.IntN(2) == 0, Each: func(Taken) error { return nil }}
	if _, err := Snapshot(k.t.Context(), opt); err != nil {
		k.t.Fatal(err)
	}
	k.now = k.now.Add(time.Minute)
	for _, file := range slices.Sorted(maps.Keys(k.onDisk)) {
		if data := k.onDisk[file]; opt.Backups {
			k.note(k.owner(data), data)
		}
		if k.rnd.IntN(3) == 0 {
			delete(k.onDisk, file)
			if err := os.Remove(filepath.Join(k.root, file)); err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

// owner returns the chat that content is of, as it was when that was backed up.
func (k *kept) owner(data string) int {
	texts := said(data)
	if len(texts) == 0 {
		return 0
	}
	return k.of["backup "+data]
}

func (k *kept) lost() *LostResult {
	k.t.Helper()
	res, err := Lost(k.t.Context(), LostOptions{List: ops.List{Paths: []string{k.root}, AllowEmpty: true}, Now: k.now})
	if err != nil || len(res.Errs) > 0 {
		k.t.Fatal(err, res)
	}
	return res
}

// judge compares what lost says with what is lost, and runs its commands.
func (k *kept) judge() {
	k.t.Helper()
	live, at := map[string]bool{}, map[string]*livingChat{}
	for _, c := range k.chats {
		if !c.gone {
			at[c.path] = c
			for _, text := range said(string(k.read(c.path))) {
				live[text] = true
			}
		}
	}
	for _, data := range k.onDisk {
		k.note(k.owner(data), data)
	}
	res := k.lost()
	defer res.Close()
	rows := map[int]bool{}
	for _, row := range res.Chats {
		var b bytes.Buffer
		r := row.restoring(RestoreOptions{})
		if err := r.s.write(k.t.Context(), r.v, &b); err != nil {
			k.t.Fatal(err)
		}
		best := b.String()
		id := k.of[best]
		if id == 0 {
			id = k.owner(best)
		}
		if id == 0 {
			k.t.Errorf("%s: nobody said that: %s", *row.Path, best)
			continue
		}
		c := k.chats[id-1]
		base := map[string]bool{}
		if !c.gone {
			for _, text := range c.messages {
				base[strings.TrimSuffix(text, ", edited")] = true
			}
		}
		truly := 0
		for _, text := range said(best) {
			if !live[text] && !base[strings.TrimSuffix(text, ", edited")] {
				truly++
			}
		}
		ours := row.LiveMessages == nil && c.gone || row.LiveMessages != nil && at[k.rel(*row.Path)] == c
		if !k.stored { // of chats with nothing but a greeting, backups do not tell which is which
			ours, rows[id] = true, true
		}
		if k.claimed += row.Lost; ours {
			k.right += min(row.Lost, truly)
		} else {
			k.t.Logf("%+v, %d lost, is not chat %d (%s, gone %v, %s)", row.Best, row.Lost, id, c.path, c.gone, k.describe(id))
		}
		if row.LiveMessages == nil {
			rows[id] = true
		}
	}
	for _, c := range k.chats {
		missing := 0
		for text := range k.evidence[c.id] {
			if !live[text] {
				missing++
			}
		}
		if !c.gone || missing == 0 || k.old && !k.stored { // up to 1.18 branches had one slug, and backups do not tell them apart
			continue
		}
		if k.gone++; rows[c.id] {
			k.found++
		} else {
			k.t.Logf("%s is gone with %d messages, and not told: %s", c.path, missing, k.describe(c.id))
		}
	}
	k.run(res)
}

// run does what the commands do, each as it stands.
func (k *kept) run(res *LostResult) {
	k.t.Helper()
	for _, row := range res.Chats {
		var want bytes.Buffer
		of := row.restoring(RestoreOptions{})
		if err := of.s.write(k.t.Context(), of.v, &want); err != nil {
			k.t.Fatal(err)
		}
		if row.To == "" {
			continue // nothing is known of it but a copy without a key
		}
		opt := RestoreOptions{Where: Where{Chat: row.To, Now: k.now}, Name: row.Name, Changes: changeset.Options{NewUUID: uuid.NewString}}
		opt.Changes.Now = k.now
		if row.Best.Rev != nil {
			opt.Pick = Pick{Rev: *row.Best.Rev}
		} else {
			opt.Backup = *row.Best.Path
		}
		k.commands++
		r, err := Restore(k.t.Context(), opt)
		if err == nil {
			err = r.Err
		}
		if err != nil {
			k.t.Errorf("%s, %+v: %v", row.To, row.Best, err)
			continue
		}
		got, err := os.ReadFile(r.Doc.Path)
		if err != nil {
			k.t.Fatal(err)
		}
		if same := slices.Equal(said(string(got)), said(want.String())); !same || row.LiveMessages == nil && !bytes.Equal(got, want.Bytes()) {
			k.t.Errorf("%s, version %v: other bytes came back to %s", row.To, row.Best, r.Doc.Path)
		}
	}
	again := k.lost()
	defer again.Close()
	for _, row := range again.Chats {
		if row.LiveMessages == nil && row.To != "" && row.Lost >= 5 {
			k.t.Errorf("%s is still gone with %d messages", row.To, row.Lost)
		}
	}
}

// In random lives, lost finds every chat that is gone with something that nobody else says, takes
// no message for lost that is not, and every command that it prints works.
func TestLivesLost(t *testing.T) {
	lives := 20
	if testing.Short() {
		lives = 5
	}
	var claimed, right, gone, found, commands int
	for seed := range seeds(&lives) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			k := &kept{life: newLife(t, seed), of: map[string]int{}, evidence: map[int]map[string]bool{}, onDisk: map[string]string{}, stored: seed%3 != 2}
			if err := os.Mkdir(filepath.Join(k.root, "backups"), 0o777); err != nil {
				t.Fatal(err)
			}
			for range 12 {
				k.round()
			}
			k.judge()
			claimed, right, gone, found, commands = claimed+k.claimed, right+k.right, gone+k.gone, found+k.found, commands+k.commands
		})
	}
	t.Logf("%d lives: %d of %d messages that are said to be lost are, %d of %d chats that are gone are told, %d commands", lives, right, claimed, found, gone, commands)
	if found < gone || 1000*right < 995*claimed || claimed == 0 || gone == 0 {
		t.Errorf("%d of %d messages, %d of %d chats", right, claimed, found, gone)
	}
}
