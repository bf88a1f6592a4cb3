//go:build linux

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk that is really full.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no tmpfs for us: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "a")
	was := put(t, path, "old")
	for name, publish := range map[string]func(*Temp) error{
		"create":  (*Temp).Create,
		"replace": func(tmp *Temp) error { return tmp.Replace(was) },
	} {
		tmp := begin(t, path, "new", System())
		if _, err := tmp.Write(make([]byte, 1<<20)); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: Write = %v", name, err)
		}
		if err := publish(tmp); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s = %v", name, err)
		}
		wantFiles(t, dir, map[string]string{"a": "old"})
	}
	if _, _, err := Spool(zeroes{}, dir); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Spool = %v", err)
	}
	wantFiles(t, dir, map[string]string{"a": "old"})
	if err := writeNew(filepath.Join(dir, "b"), make([]byte, 128<<10)); err != nil {
		t.Errorf("the space did not come back: %v", err)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// renameat2 as the kernel has it, where the file system of the tests does.
func TestRenameNew(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "a")
	if err := renameNew(a, b, true); noRenameNew(err) {
		t.Skipf("not here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	put(t, a, "a2")
	if err := renameNew(a, b, true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto a file: %v", err)
	}
	wantFiles(t, dir, map[string]string{"a": "a2", "b": "a"})
	t.Setenv("ANDROID_ROOT", "/system")
	if err := renameNew(a, filepath.Join(dir, "c"), true); !noRenameNew(err) {
		t.Errorf("on Android: %v", err)
	}
}

const nobody = 65534

// asNobody runs do on a thread that has lost root's powers. Nothing else of the
// process changes, and the thread ends with do. Where we are not root it runs as we are.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	done := make(chan syscall.Errno)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is not used again
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0)
		if errno == 0 {
			_, _, errno = syscall.RawSyscall(syscall.SYS_SETRESGID, nobody, nobody, nobody)
		}
		if errno == 0 {
			_, _, errno = syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody)
		}
		defer func() { done <- errno }()
		if errno == 0 {
			do()
		}
	}()
	if errno := <-done; errno != 0 {
		t.Skipf("cannot become nobody: %v", errno)
	}
}

// nobodysDir is a folder that asNobody's thread owns.
func nobodysDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() == 0 {
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chown(d, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestReadOnlyFolder(t *testing.T) {
	dir := nobodysDir(t)
	path := filepath.Join(dir, "a")
	put(t, path, "old")
	chmod(t, dir, 0o555)
	t.Cleanup(func() { chmod(t, dir, 0o755) })
	asNobody(t, func() {
		if _, err := New(path, Options{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("New = %v", err)
		}
	})
	// It becomes read-only after the content was written.
	chmod(t, dir, 0o755)
	for way, d := range ways() {
		asNobody(t, func() {
			tmp, err := New(filepath.Join(dir, "b"), Options{Disk: &d})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				os.Chmod(dir, 0o755)
				os.Remove(tmp.path)
			}()
			os.Chmod(dir, 0o555)
			if err := tmp.Create(); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: Create = %v", way, err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "b")); err == nil {
				t.Errorf("%s: it was created", way)
			}
		})
	}
	wantFiles(t, dir, map[string]string{"a": "old"})
}

// A folder that may be written but not listed cannot be synced: that is no failure.
func TestUnlistableFolder(t *testing.T) {
	dir := nobodysDir(t)
	chmod(t, dir, 0o300)
	asNobody(t, func() {
		if err := writeNew(filepath.Join(dir, "a"), []byte("x")); err != nil {
			t.Error(err)
		}
	})
	chmod(t, dir, 0o755)
	wantFiles(t, dir, map[string]string{"a": "x"})
}

// Somebody else's file in our folder.
func TestForeignOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	const uid, gid = 4321, 4322
	for name, tc := range map[string]struct {
		mode     fs.FileMode
		root     bool
		want     error
		wantMode fs.FileMode
		wantUID  uint32
		wantGID  uint32
	}{
		"root keeps it all":             {mode: 0o640, root: true, wantMode: 0o640, wantUID: uid, wantGID: gid},
		"may not be written":            {mode: 0o644, want: ErrReadOnly, wantMode: 0o644, wantUID: uid, wantGID: gid},
		"may, but not be given away":    {mode: 0o666, wantMode: 0o666, wantUID: nobody, wantGID: nobody},
		"the group's rights go with it": {mode: 0o672, wantMode: 0o622, wantUID: nobody, wantGID: nobody},
	} {
		t.Run(name, func(t *testing.T) {
			dir := nobodysDir(t)
			path := filepath.Join(dir, "a")
			put(t, path, "old")
			if err := os.Chown(path, uid, gid); err != nil {
				t.Fatal(err)
			}
			chmod(t, path, tc.mode)
			was := stamp(t, path)
			do := func() {
				if err := CanReplace(path); !errors.Is(err, tc.want) {
					t.Errorf("CanReplace = %v", err)
				}
				tmp, err := New(path, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := tmp.Replace(was); !errors.Is(err, tc.want) {
					t.Errorf("Replace = %v", err)
				}
			}
			if tc.root {
				do()
			} else {
				asNobody(t, do)
			}
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			st := info.Sys().(*syscall.Stat_t)
			if info.Mode() != tc.wantMode || st.Uid != tc.wantUID || st.Gid != tc.wantGID {
				t.Errorf("mode %v, owner %d, group %d", info.Mode(), st.Uid, st.Gid)
			}
			content := "old"
			if tc.want == nil {
				content = "" // nothing was written into the Temp
			}
			wantFiles(t, dir, map[string]string{"a": content})
		})
	}
}

// Another user's process exists, although we may not signal it.
func TestForeignProcess(t *testing.T) {
	asNobody(t, func() {
		if processGone(1) {
			t.Error("process 1 is gone")
		}
	})
}

// Room that was set aside and not needed is given back.
func TestRoomIsGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	tmp := begin(t, path, "", System())
	for range 3 {
		if _, err := tmp.Write(make([]byte, reservePays+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tmp.Create(); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	if room := st.Blocks*512 - st.Size; room > 1<<20 {
		t.Errorf("%d bytes too many are the file's", room)
	}
}

// What root makes in a user's folder belongs to the owner of the folder it is in, and nobody may read
// it who could not read the file it is made from.
func TestOwnerOfNew(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user, group, friends, other = 4321, 4322, 4323, 5321
	type owned struct {
		uid, gid uint32
		mode     fs.FileMode
	}
	for name, tc := range map[string]struct {
		like *owned
		away bool // in no user's folder
		want owned
	}{
		"of nothing":                 {want: owned{user, group, 0o644}},
		"outside":                    {away: true, want: owned{0, 0, 0o644}},
		"of the user's":              {like: &owned{user, friends, 0o640}, want: owned{user, friends, 0o640}},
		"of the user's, private":     {like: &owned{user, group, 0o600}, want: owned{user, group, 0o600}},
		"of root's":                  {like: &owned{0, 0, 0o644}, want: owned{user, group, 0o644}},
		"of root's group":            {like: &owned{0, 0, 0o640}, want: owned{user, group, 0o600}},
		"of another user's":          {like: &owned{other, other, 0o664}, want: owned{user, group, 0o644}},
		"of another's in the group":  {like: &owned{other, group, 0o640}, want: owned{user, group, 0o640}},
		"of another user's, outside": {like: &owned{other, other, 0o640}, away: true, want: owned{other, other, 0o640}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			give := func(path string, o owned) {
				if err := os.Chown(path, int(o.uid), int(o.gid)); err != nil {
					t.Fatal(err)
				}
				chmod(t, path, o.mode)
			}
			folder := filepath.Join(dir, "chats")
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			give(folder, owned{user, group, 0o755})
			opt := Options{Home: dir}
			give(dir, owned{user, other, 0o755})
			if tc.away {
				opt.Home = ""
			}
			if tc.like != nil {
				from := filepath.Join(dir, "from")
				put(t, from, "old")
				give(from, *tc.like)
				opt.Like = stamp(t, from).Info()
			}

			path := filepath.Join(folder, "a")
			tmp, err := New(path, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer tmp.Discard()
			if err := tmp.Create(); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			st := info.Sys().(*syscall.Stat_t)
			if got := (owned{st.Uid, st.Gid, info.Mode()}); got != tc.want {
				t.Errorf("%+v, not %+v", got, tc.want)
			}
		})
	}
}

// Somebody who is not root keeps what they make in the folder of somebody else.
func TestOwnerOfNewKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	dir := nobodysDir(t)
	if err := os.Chown(dir, 4321, 4322); err != nil {
		t.Fatal(err)
	}
	chmod(t, dir, 0o777)
	path := filepath.Join(dir, "a")
	asNobody(t, func() {
		tmp, err := New(path, Options{Home: dir})
		if err == nil {
			err = tmp.Create()
		}
		if err != nil {
			t.Error(err)
		}
	})
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != nobody || st.Gid != nobody {
		t.Errorf("owner %d, group %d", st.Uid, st.Gid)
	}
}
