package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCreate(t *testing.T) {
	for _, opt := range []Options{{}, {NoSync: true}} {
		dir := t.TempDir()
		tmp, err := New(filepath.Join(dir, "Mira.jsonl"), opt)
		if err != nil {
			t.Fatal(err)
		}
		defer tmp.Discard()
		for _, s := range []string{"one\n", "", "two"} {
			if n, err := tmp.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatalf("Write(%q) = %d, %v", s, n, err)
			}
		}
		if got := temps(t, dir); len(got) != 1 {
			t.Fatalf("before Create: temporary files %q", got)
		}
		if err := tmp.Create(); err != nil {
			t.Fatal(err)
		}
		tmp.Discard()
		wantFiles(t, dir, map[string]string{"Mira.jsonl": "one\ntwo"})
		if err := tmp.Create(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("a second Create: %v", err)
		}
		if _, err := tmp.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Write after Create: %v", err)
		}
		wantFiles(t, dir, map[string]string{"Mira.jsonl": "one\ntwo"})
	}
}

// withoutLinks and the two below it are the file systems on which Create falls back.
func withoutLinks() Disk {
	d := System()
	d.Claim = func(old, new string) error {
		return &os.LinkError{Op: "link", Old: old, New: new, Err: errors.ErrUnsupported}
	}
	return d
}

func withRenameOnly() Disk {
	d := withoutLinks()
	d.RenameNew = func(old, new string, _ bool) error {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: errors.ErrUnsupported}
	}
	return d
}

func ways() map[string]Disk {
	return map[string]Disk{"as it is": System(), "no links": withoutLinks(), "only rename": withRenameOnly()}
}

func TestCreateTaken(t *testing.T) {
	takers := map[string]func(t *testing.T, path string){
		"file":      func(t *testing.T, path string) { put(t, path, "theirs") },
		"read-only": func(t *testing.T, path string) { put(t, path, "theirs"); chmod(t, path, 0o444) },
		"folder": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"symlink": func(t *testing.T, path string) {
			put(t, filepath.Join(filepath.Dir(path), "real"), "theirs")
			symlink(t, "real", path)
		},
		"dangling symlink": func(t *testing.T, path string) { symlink(t, "nowhere", path) },
		"symlink to itself": func(t *testing.T, path string) {
			symlink(t, filepath.Base(path), path)
		},
	}
	for name, take := range takers {
		for way, d := range ways() {
			for _, late := range []bool{false, true} {
				t.Run(name+"/"+way+map[bool]string{true: "/late"}[late], func(t *testing.T) {
					dir := t.TempDir()
					path := filepath.Join(dir, "a.jsonl")
					if !late {
						take(t, path)
					}
					tmp := begin(t, path, "ours", d)
					if late {
						if err := tmp.Prepare(); err != nil {
							t.Fatal(err)
						}
						take(t, path)
					}
					before, err := os.Lstat(path)
					if err != nil {
						t.Fatal(err)
					}
					err = tmp.Create()
					var exists *ExistsError
					if !errors.As(err, &exists) || !errors.Is(err, fs.ErrExist) || exists.Path != path {
						t.Errorf("Create = %v", err)
					}
					after, err := os.Lstat(path)
					if err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() {
						t.Errorf("the file in the way was touched: %v, %v", after, err)
					}
					if data, err := os.ReadFile(path); err == nil && string(data) != "theirs" {
						t.Errorf("it holds %q", data)
					}
					if left := temps(t, dir); left != nil {
						t.Errorf("left over: %q", left)
					}
				})
			}
		}
	}
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestCreateEveryWay(t *testing.T) {
	for way, d := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			tmp := begin(t, filepath.Join(dir, "a.jsonl"), "ours", d)
			if err := tmp.Create(); err != nil {
				t.Fatal(err)
			}
			wantFiles(t, dir, map[string]string{"a.jsonl": "ours"})
		})
	}
}

// While the placeholder holds the name, somebody writes into it, or puts a file of his
// own in its place, or the rename fails.
func TestCreatePlaceholder(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile func(t *testing.T, path string)
		want      map[string]string
	}{
		"rename fails": {func(*testing.T, string) {}, map[string]string{}},
		"written into": {func(t *testing.T, path string) { put(t, path, "theirs") }, map[string]string{"a": "theirs"}},
		"replaced": {func(t *testing.T, path string) {
			put(t, path+".new", "")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{"a": ""}},
		"removed": {func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := withRenameOnly()
			d.Rename = func(_, new string, _ bool) error {
				tc.meanwhile(t, new)
				return errDisk
			}
			tmp := begin(t, filepath.Join(dir, "a"), "ours", d)
			if err := tmp.Create(); !errors.Is(err, errDisk) {
				t.Errorf("Create = %v", err)
			}
			wantFiles(t, dir, tc.want)
		})
	}
}

// Somebody writes into the placeholder before we get to rename over it.
func TestCreatePlaceholderTaken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	d := withRenameOnly()
	d.CloseFile = func(f *os.File) error {
		if f.Name() == path {
			put(t, path, "theirs")
		}
		return f.Close()
	}
	if err := begin(t, path, "ours", d).Create(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create = %v", err)
	}
	wantFiles(t, dir, map[string]string{"a": "theirs"})
}

// The symlink that New followed is gone: its name is not taken from another folder.
func TestCreateSymlinkGone(t *testing.T) {
	dir, far := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a")
	put(t, filepath.Join(far, "real"), "theirs")
	symlink(t, filepath.Join(far, "real"), path)
	tmp := begin(t, path, "ours", System())
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := tmp.Create(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create = %v", err)
	}
	wantFiles(t, dir, map[string]string{})
	wantFiles(t, far, map[string]string{"real": "theirs"})
}

// A rename that fails for a reason other than being unknown is not tried in a worse way.
func TestCreateNoWorseWay(t *testing.T) {
	dir := t.TempDir()
	d := withRenameOnly()
	d.RenameNew = func(_, _ string, _ bool) error { return errDisk }
	d.Rename = func(_, _ string, _ bool) error {
		t.Error("a placeholder was used")
		return errDisk
	}
	if err := begin(t, filepath.Join(dir, "a"), "ours", d).Create(); !errors.Is(err, errDisk) {
		t.Errorf("Create = %v", err)
	}
	wantFiles(t, dir, map[string]string{})
}

// NFS may lose the answer to a link that it made, and say EEXIST to the second try.
func TestCreateLinkAnswerLost(t *testing.T) {
	dir := t.TempDir()
	d := System()
	d.Claim = func(old, new string) error {
		if err := os.Link(old, new); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
		return &os.LinkError{Op: "link", Old: old, New: new, Err: fs.ErrExist}
	}
	if err := begin(t, filepath.Join(dir, "a"), "ours", d).Create(); err != nil {
		t.Errorf("Create = %v", err)
	}
	wantFiles(t, dir, map[string]string{"a": "ours"})
}

func TestReplaceAnswerLost(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	d := System()
	d.Rename = func(old, new string, _ bool) error {
		rename(t, old, new)
		return fs.ErrNotExist // what the second try finds
	}
	was := put(t, path, "old")
	if err := begin(t, path, "new", d).Replace(was); err != nil {
		t.Errorf("Replace = %v", err)
	}
	wantFiles(t, dir, map[string]string{"a": "new"})
}

// A folder that cannot be synced: Create takes the file away again, unless it is
// somebody else's by then.
func TestCreateUnsynced(t *testing.T) {
	path := ""
	for name, change := range map[string]func(){
		"another size": func() {
			when := stamp(t, path).ModTime()
			put(t, path, "ours and theirs")
			setTime(t, path, when)
		},
		"the same size":  func() { put(t, path, "OURS"); setTime(t, path, time.Now().Add(time.Hour)) },
		"another file":   func() { put(t, path+"2", "ours"); rename(t, path+"2", path) },
		"no file at all": func() { rename(t, path, path+"3") },
		"not changed":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path = filepath.Join(dir, "a")
			left := map[string]string{}
			d := System()
			d.SyncDir = func(string) error {
				if change != nil {
					change()
					left = files(t, dir)
				}
				return errDisk
			}
			err := begin(t, path, "ours", d).Create()
			if !errors.Is(err, errDisk) || errors.Is(err, ErrChanged) != (change != nil) {
				t.Errorf("Create = %v", err)
			}
			wantFiles(t, dir, left)
		})
	}
}

func setTime(t *testing.T, path string, when time.Time) {
	t.Helper()
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, old, new string) {
	t.Helper()
	if err := os.Rename(old, new); err != nil {
		t.Fatal(err)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	tmp := begin(t, path, "new", System())
	was := put(t, path, "old") // New did not see it
	if err := tmp.Replace(was); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]string{"a.jsonl": "new"})
	if now := stamp(t, path); now.Same(was) || now.SameFile(was) || now.Size() != 3 {
		t.Errorf("the stamp did not change: %+v", now)
	}
}

func TestReplaceChanged(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"appended to": func(t *testing.T, path string) { put(t, path, "old and more") },
		"the same size, another time": func(t *testing.T, path string) {
			put(t, path, "OLD")
			setTime(t, path, time.Now().Add(time.Hour))
		},
		"another file of the same size and time": func(t *testing.T, path string) {
			s := stamp(t, path)
			put(t, path+"2", "OLD")
			setTime(t, path+"2", s.ModTime())
			rename(t, path+"2", path)
		},
	} {
		for _, prepared := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "a")
				was := put(t, path, "old")
				tmp := begin(t, path, "new", System())
				if prepared {
					if err := tmp.Prepare(); err != nil {
						t.Fatal(err)
					}
				}
				change(t, path)
				theirs, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := tmp.Replace(was); !errors.Is(err, ErrChanged) || !strings.HasPrefix(err.Error(), path+": ") {
					t.Errorf("Replace = %v", err)
				}
				wantFiles(t, dir, map[string]string{"a": string(theirs)})
			})
		}
	}
	t.Run("never read", func(t *testing.T) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "a"), "old")
		if err := begin(t, filepath.Join(dir, "a"), "new", System()).Replace(Stamp{}); !errors.Is(err, ErrChanged) {
			t.Errorf("Replace = %v", err)
		}
		wantFiles(t, dir, map[string]string{"a": "old"})
	})
}

func TestReplaceRefuses(t *testing.T) {
	type refusal struct {
		make func(t *testing.T, path string)
		want error
	}
	for name, tc := range map[string]refusal{
		"nothing there": {func(*testing.T, string) {}, fs.ErrNotExist},
		"folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, ErrNotRegular},
		"read-only": {func(t *testing.T, path string) { put(t, path, "old"); chmod(t, path, 0o444) }, ErrReadOnly},
		"read-only behind a symlink": {func(t *testing.T, path string) {
			put(t, path+"2", "old")
			chmod(t, path+"2", 0o444)
			symlink(t, path+"2", path)
		}, fs.ErrPermission},
		"symlink to a folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path+"2", 0o755); err != nil {
				t.Fatal(err)
			}
			symlink(t, path+"2", path)
		}, ErrNotRegular},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			tc.make(t, path)
			if err := CanReplace(path); !errors.Is(err, tc.want) {
				t.Errorf("CanReplace = %v", err)
			}
			tmp := begin(t, path, "new", System())
			was, _ := StampPath(path)
			if err := tmp.Replace(was); !errors.Is(err, tc.want) {
				t.Errorf("Replace = %v", err)
			}
			if left := temps(t, dir); left != nil {
				t.Errorf("left over: %q", left)
			}
			if data, err := os.ReadFile(path); err == nil && string(data) != "old" {
				t.Errorf("it holds %q", data)
			}
		})
	}
	t.Run("dangling symlink", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		symlink(t, "nowhere", path)
		if err := CanReplace(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("CanReplace = %v", err)
		}
		if err := begin(t, path, "new", System()).Replace(Stamp{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Replace = %v", err)
		}
		wantFiles(t, dir, map[string]string{})
	})
}

func TestReplaceBehindSymlink(t *testing.T) {
	dir, far := t.TempDir(), t.TempDir()
	put(t, filepath.Join(far, "real.jsonl"), "old")
	symlink(t, filepath.Join(far, "real.jsonl"), filepath.Join(far, "middle"))
	path := filepath.Join(dir, "a.jsonl")
	symlink(t, filepath.Join(far, "middle"), path)

	if err := CanReplace(path); err != nil {
		t.Errorf("CanReplace = %v", err)
	}
	tmp := begin(t, path, "new", System())
	if len(temps(t, dir)) != 0 || len(temps(t, far)) != 1 {
		t.Errorf("the temporary file does not lie beside the real one: %q, %q", temps(t, dir), temps(t, far))
	}
	if err := tmp.Replace(stamp(t, path)); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, far, map[string]string{"real.jsonl": "new"})
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the symlink became %v, %v", info, err)
	}
}

// The symlink is led elsewhere after New resolved it: neither file is written, even
// when the stamp is the new file's.
func TestReplaceSymlinkLedAway(t *testing.T) {
	dir := t.TempDir()
	path, one, two := filepath.Join(dir, "a"), filepath.Join(dir, "one"), filepath.Join(dir, "two")
	put(t, one, "1")
	put(t, two, "2")
	for _, stampOf := range []string{one, two} {
		os.Remove(path)
		symlink(t, one, path)
		tmp := begin(t, path, "new", System())
		os.Remove(path)
		symlink(t, two, path)
		if err := tmp.Replace(stamp(t, stampOf)); !errors.Is(err, ErrChanged) {
			t.Errorf("Replace = %v", err)
		}
		wantFiles(t, dir, map[string]string{"one": "1", "two": "2"})
	}
}

// A regular file turned into a symlink after New: it is not followed blindly.
func TestReplaceBecameSymlink(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a"), filepath.Join(dir, "other")
	put(t, path, "old")
	put(t, other, "other")
	tmp := begin(t, path, "new", System())
	os.Remove(path)
	symlink(t, other, path)
	if err := tmp.Replace(stamp(t, path)); !errors.Is(err, ErrChanged) {
		t.Errorf("Replace = %v", err)
	}
	wantFiles(t, dir, map[string]string{"other": "other"})
}

// The other name of a hard-linked file keeps the old content, as the package says.
func TestReplaceHardLinked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put(t, path, "old")
	if err := os.Link(path, path+"2"); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if err := begin(t, path, "new", System()).Replace(stamp(t, path+"2")); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]string{"a": "new", "a2": "old"})
}

// What a person reads: the target's name as it was given, and never a temporary one.
func TestErrorTexts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	was := put(t, path, "old")
	failing := System()
	failing.Claim = func(_, _ string) error { return fs.ErrInvalid }
	failing.RenameNew = func(old, new string, _ bool) error {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: errDisk}
	}
	failing.Rename = failing.RenameNew
	unsynced := System()
	unsynced.SyncDir = func(string) error { return &fs.PathError{Op: "sync", Path: dir, Err: errDisk} }
	for _, tc := range []struct {
		err  error
		want string
	}{
		{begin(t, path, "x", System()).Create(), path + ": already exists"},
		{begin(t, path+"2", "x", failing).Create(), "create " + path + "2: the disk says no"},
		{begin(t, path+"2", "x", unsynced).Create(), "sync the folder of " + path + "2: the disk says no"},
		{begin(t, path, "x", failing).Replace(was), "replace " + path + ": the disk says no"},
		{begin(t, path, "x", System()).Replace(Stamp{}), path + ": the file changed since it was read"},
		{begin(t, dir, "x", System()).Replace(was), dir + ": not a regular file"},
		{begin(t, path, "x", unsynced).Replace(was), path + ": was replaced, but its folder could not be synced: the disk says no"},
	} {
		if tc.err == nil || tc.err.Error() != tc.want {
			t.Errorf("got  %v\nwant %s", tc.err, tc.want)
		}
	}
	chmod(t, path, 0o444)
	err := begin(t, path, "y", System()).Replace(stamp(t, path))
	if want := path + ": the file is read-only"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Whichever step fails, the error comes out, the target is as it was, and nothing is left.
func TestFaults(t *testing.T) {
	faults := map[string]func(d *Disk){
		"sync":  func(d *Disk) { d.Sync = func(*os.File) error { return errDisk } },
		"close": func(d *Disk) { d.CloseFile = func(f *os.File) error { f.Close(); return errDisk } },
		"publish": func(d *Disk) {
			d.Claim = func(_, _ string) error { return errDisk }
			d.RenameNew = func(_, _ string, _ bool) error { return errDisk }
			d.Rename = func(_, _ string, _ bool) error { return errDisk }
		},
		"folder": func(d *Disk) { d.SyncDir = func(string) error { return errDisk } },
	}
	for name, fault := range faults {
		d := System()
		fault(&d)
		t.Run("create/"+name, func(t *testing.T) {
			dir := t.TempDir()
			if err := begin(t, filepath.Join(dir, "a"), "new", d).Create(); !errors.Is(err, errDisk) {
				t.Errorf("Create = %v", err)
			}
			wantFiles(t, dir, map[string]string{})
		})
		t.Run("replace/"+name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			was := put(t, path, "old")
			tmp := begin(t, path, "new", d)
			err := tmp.Replace(was)
			if !errors.Is(err, errDisk) {
				t.Errorf("Replace = %v", err)
			}
			want := "old"
			if _, unsynced := errors.AsType[*UnsyncedError](err); unsynced != (name == "folder") {
				t.Errorf("Replace = %v", err)
			} else if unsynced {
				want = "new"
			}
			wantFiles(t, dir, map[string]string{"a": want})
			if err := tmp.Replace(was); err == nil {
				t.Error("a second Replace went through")
			}
		})
	}
}

// With NoSync nothing is synced, not even where it would fail.
func TestNoSync(t *testing.T) {
	dir := t.TempDir()
	d := System()
	d.Sync = func(*os.File) error { return errDisk }
	d.SyncDir = func(string) error { return errDisk }
	d.WriteBack = func(*os.File, int64, int64) { t.Error("write-back was started") }
	path := filepath.Join(dir, "a")
	tmp, err := New(path, Options{NoSync: true, Disk: &d})
	if err != nil {
		t.Fatal(err)
	}
	defer tmp.Discard()
	if _, err := tmp.Write(make([]byte, writeBackStep)); err != nil {
		t.Fatal(err)
	}
	if err := tmp.Create(); err != nil {
		t.Fatal(err)
	}
	if s := stamp(t, path); s.Size() != writeBackStep {
		t.Errorf("%d bytes", s.Size())
	}
}
