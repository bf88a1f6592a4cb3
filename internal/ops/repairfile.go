package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/names"
	"stchat/internal/rules"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// mend mends one chat's file. again says that it should be looked at again.
func (r *repair) mend(ctx context.Context, p *mendPlan) (again bool) {
	err := p.inDatabase()
	if err == nil && p.empty() {
		return false
	}
	res := r.result(p.chat.Path)
	res.Chat = true
	if err == nil {
		err = r.mendChat(ctx, p, res)
	}
	if err != nil {
		res.Err = pathError(err)
		p.failed = true
		return false
	}
	return res.Written && (len(p.missing) > 0 || p.want.Has(rules.NotAnObject) || p.want.Has(rules.BOM))
}

// mendChat makes the chat's new file and puts it in the place of the old one,
// which is kept. The backup and the quarantine file come first; they go again
// when the chat cannot be replaced.
func (r *repair) mendChat(ctx context.Context, p *mendPlan, res *RepairResult) (err error) {
	file, err := chat.OpenRegular(p.chat.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	stamp, err := safefile.StampOf(file)
	if err != nil {
		return err
	}
	if !stamp.Same(p.chat.Stamp) {
		return fmt.Errorf("%s: %w", p.chat.Path, safefile.ErrChanged)
	}
	w := &rewriter{mendPlan: p, repair: r, res: res, file: file, src: jsonl.Source{R: file, Size: stamp.Size()}, out: io.Discard, lost: &quarantine{repair: r, path: p.chat.Path}}
	isLuker, sync := p.lukerChat()
	if isLuker || r.BumpIntegrity {
		w.slug = r.NewUUID()
	}
	defer func() { w.lost.temp.Discard() }()
	var temp *safefile.Temp
	if r.Write {
		r.sweep(p.chat.Path)
		if temp, err = safefile.New(p.chat.Path, safefile.Options{NoSync: r.NoSync}); err != nil {
			return err
		}
		defer temp.Discard()
		w.out = temp
	}
	did := len(res.Actions)
	if err := w.run(ctx); err != nil {
		res.Actions = res.Actions[:did]
		return err
	}
	if len(res.Actions) == did || !r.Write {
		return nil
	}
	if err := temp.Prepare(); err != nil {
		return err
	}
	var done []*safefile.Temp
	defer func() {
		if err != nil {
			for _, t := range done {
				err = errors.Join(err, t.Undo())
			}
		}
	}()
	backup, quarantined := res.Backup, res.Quarantine
	if backup == nil {
		t, path, err := r.backup(p.chat.Path, file, stamp.Size())
		if err != nil {
			return err
		}
		done, backup = append(done, t), &path
	}
	if t, path, err := w.lost.create(); err != nil {
		return err
	} else if t != nil {
		done, quarantined = append(done, t), &path
	}
	// Windows does not replace a file that somebody has open
	if err := file.Close(); err != nil {
		return err
	}
	err = temp.Replace(stamp)
	if unsynced, ok := errors.AsType[*safefile.UnsyncedError](err); ok {
		res.Err, err = unsynced, nil
	}
	if err != nil {
		return err
	}
	res.Backup, res.Quarantine = backup, quarantined
	res.Written = true
	if w.slug != "" && sync != "" {
		if e := r.writeSync(sync, w.slug); e != nil {
			res.Err = fmt.Errorf("%s: mended, but its slug is not in Luker's %s: %w", p.chat.Path, filepath.Base(sync), e)
		}
	}
	return nil
}

// writeSync writes the header's new slug to chat_sync too: Luker reads that one
// first (FORMATS.md A1.6).
func (r *repair) writeSync(path, slug string) error {
	was, err := safefile.StampPath(path)
	if err != nil {
		return err
	}
	_, err = safefile.Rewrite(path, luker.SyncData(slug, r.Now.UnixMilli()), was, safefile.Options{NoSync: r.NoSync})
	return err
}

// tries is how many names are tried for a backup or a quarantine file.
const tries = 1000

// backup keeps the file as it is, under a name that SillyTavern does not list.
func (r *repair) backup(path string, from io.ReaderAt, size int64) (*safefile.Temp, string, error) {
	stem := path + ".bak-" + names.Humanized(r.Now)
	return r.createFree(func(i int) string {
		if i == 0 {
			return stem
		}
		return fmt.Sprintf("%s-%d", stem, i+1)
	}, func(t *safefile.Temp) error {
		_, err := io.CopyBuffer(t, io.NewSectionReader(from, 0, size), make([]byte, min(1<<20, size+1)))
		return err
	})
}

// createFree creates a file under the first name that is free.
func (r *repair) createFree(name func(i int) string, fill func(*safefile.Temp) error) (*safefile.Temp, string, error) {
	for i := range tries {
		path := name(i)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		t, err := safefile.New(path, safefile.Options{NoSync: r.NoSync})
		if err != nil {
			return nil, "", err
		}
		if err = fill(t); err == nil {
			err = t.Create()
		}
		t.Discard() // nothing, once it is created
		switch {
		case err == nil:
			return t, path, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("%s: %w, and so do the names after it", name(0), fs.ErrExist)
}

// quarantine collects what is taken out of a chat, in a file of its own.
type quarantine struct {
	repair *repair
	path   string // of the chat
	temp   *safefile.Temp
	name   string
}

// add writes what an action took out. Without Write it only would.
func (q *quarantine) add(line, index int, a *lineAction) error {
	if !q.repair.Write {
		return nil
	}
	if q.temp == nil {
		if err := q.open(); err != nil {
			return err
		}
	}
	place := fmt.Sprintf("line %d", line)
	if index >= 0 {
		place += fmt.Sprintf(", message %d", index)
	}
	what := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, a.what)
	if _, err := fmt.Fprintf(q.temp, "# %s: %s: %s\n", place, a.rule, what); err != nil {
		return err
	}
	_, err := q.temp.Write(append(a.lost, '\n'))
	return err
}

// open begins the file, under the first name that is free.
func (q *quarantine) open() error {
	folder := q.repair.Quarantine
	if folder == "" {
		folder = filepath.Dir(q.path)
	} else if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	name := userdir.ChatName(q.path)
	for i := range tries {
		q.name = filepath.Join(folder, name+".damaged")
		if i > 0 {
			q.name = filepath.Join(folder, fmt.Sprintf("%s.%d.damaged", name, i+1))
		}
		if _, err := os.Lstat(q.name); err != nil {
			break // free, or trouble that creating it will meet
		}
	}
	var err error
	if q.temp, err = safefile.New(q.name, safefile.Options{NoSync: q.repair.NoSync}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(q.temp, "# taken out of %s by stchat repair, %s\n", filepath.Base(q.path), q.repair.Now.Format("2006-01-02 15:04:05"))
	return err
}

// create puts the file in place, if anything is in it.
func (q *quarantine) create() (*safefile.Temp, string, error) {
	if q.temp == nil {
		return nil, "", nil
	}
	if err := q.temp.Create(); err != nil {
		return nil, "", err
	}
	return q.temp, q.name, nil
}
