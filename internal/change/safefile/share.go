package safefile

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// TempName returns a name for a temporary file of this process.
func TempName() string {
	tag, _ := hostTag()
	return tempName(tag)
}

// IsTemp reports whether name can be one that TempName returned.
func IsTemp(name string) bool {
	_, _, ok := parseTempName(name)
	return ok
}

// Self identifies this process in the names of temporary files and in journals. Finding it
// takes several system calls, so code that writes many files keeps one.
type Self struct {
	host func() string
	tag  string
	sure bool // equal tags prove that realms are equal
}

// ThisProcess returns the identity of this process.
func ThisProcess() *Self {
	s := &Self{host: sync.OnceValue(func() string { // which only records and journals need
		sum := sha256.Sum256([]byte(machine()))
		return hex.EncodeToString(sum[:tagDigits/2])
	})}
	s.tag, s.sure = hostTag()
	return s
}

// Host returns an ID of this machine that survives restarts, as far as the system has one.
func (s *Self) Host() string { return s.host() }

// Process returns what [ProcessGone] takes for this process. realm is empty where nothing
// can be proved.
func (s *Self) Process() (realm string, pid int) {
	if s.sure {
		realm = s.tag
	}
	return realm, os.Getpid()
}

// ProcessGone reports whether it is certain that a process no longer exists.
func ProcessGone(realm string, pid int) bool {
	tag, sure := hostTag()
	return sure && realm == tag && processGone(pid)
}

// ErrBusy means that another run held a lock for too long.
var ErrBusy = errors.New("another run of this program is writing there")

// patience is how long to wait for a lock. The run that holds it is publishing files,
// which takes next to no time, or rendering an edit anew.
const patience = time.Minute

// Lock waits until no other run holds dir, and holds it until unlock is called. Programs
// that do not ask for locks, such as SillyTavern, are not kept out. held is false, without
// an error, where locks are not supported, as on some network disks. The error is
// [ErrBusy] if another run holds dir for longer than a minute, or that of ctx.
func Lock(ctx context.Context, dir string) (unlock func(), held bool, err error) {
	return lockWithin(ctx, dir, patience)
}

// lockFile takes the lock on f by try, waiting as [waitForLock] does. Closing f releases
// the lock. held is false where try finds that there are no locks.
func lockFile(ctx context.Context, f *os.File, patience time.Duration, try func() error) (unlock func(), held bool, err error) {
	err = waitForLock(ctx, patience, try)
	if err == nil {
		return func() { _ = f.Close() }, true, nil // releases the lock
	}
	_ = f.Close() // nothing was written to it
	if !errors.Is(err, ErrBusy) && ctx.Err() == nil {
		err = nil // locks are not supported here
	}
	return func() {}, false, err
}

// waitForLock calls try, with growing pauses, while it returns errLocked, which means that
// somebody else holds the lock. After patience the error is [ErrBusy].
func waitForLock(ctx context.Context, patience time.Duration, try func() error) error {
	pause := time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := try()
		if !errors.Is(err, errLocked) {
			return err
		}
		if waited >= patience {
			return ErrBusy
		}
		pause = min(pause*2, 20*time.Millisecond)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

var errLocked = errors.New("locked")

const (
	tempPrefix = ".stchat-"
	tempSuffix = ".tmp"
	tagDigits  = 12
	randDigits = 8
)

// tempName returns a name for a temporary file: ".stchat-<tag>-<pid>-<random>.tmp". At
// 44 bytes or less it fits wherever a chat's name does, however long the target's.
func tempName(tag string) string {
	var r [randDigits / 2]byte
	rand.Read(r[:]) // never fails
	return tempPrefix + tag + "-" + strconv.Itoa(os.Getpid()) + "-" + hex.EncodeToString(r[:]) + tempSuffix
}

// parseTempName splits such a name into its parts; ok is false for any other name.
func parseTempName(name string) (tag string, pid int, ok bool) {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return "", 0, false
	}
	if rest, ok = strings.CutSuffix(rest, tempSuffix); !ok {
		return "", 0, false
	}
	parts := strings.Split(rest, "-")
	if len(parts) != 3 || !isHex(parts[0], tagDigits) || !isHex(parts[2], randDigits) {
		return "", 0, false
	}
	n, err := strconv.ParseInt(parts[1], 10, 32)
	// 0 and negative numbers mean process groups to kill(2).
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != parts[1] {
		return "", 0, false
	}
	return parts[0], int(n), true
}

func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// hostTag returns, as 12 hex digits, a tag for the realm in which our process id is
// valid: this machine, this boot, this PID namespace. sure is false where the system
// does not reveal enough of them for equal tags to prove anything.
func hostTag() (tag string, sure bool) {
	host, err := os.Hostname()
	parts, ok := realm()
	sum := sha256.Sum256([]byte(strings.Join(append(parts, host), "\x00")))
	return hex.EncodeToString(sum[:tagDigits/2]), ok && err == nil && host != ""
}

// RemoveStale removes the temporary files in dir that a process of this program left
// behind when it was killed: those made on the machine of self since it started, in the
// same PID namespace, whose process does not exist any more. Doubtful files stay. It returns
// the paths that it removed. A folder that cannot be read or a file that cannot be removed
// is no error, since the files are in nobody's way.
//
// Files named in spare stay, whatever became of their process: the caller still needs
// them.
func RemoveStale(dir string, spare map[string]bool, self *Self) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // what could be read
	return RemoveStaleOf(dir, names, spare, self)
}

// RemoveStaleOf is [RemoveStale] for whoever knows what is in dir.
func RemoveStaleOf(dir string, names []string, spare map[string]bool, self *Self) []string {
	if !self.sure {
		return nil
	}
	return removeStale(dir, names, self.tag, spare, processGone)
}

func removeStale(dir string, names []string, tag string, spare map[string]bool, gone func(pid int) bool) []string {
	var removed []string
	for _, name := range names {
		its, pid, ok := parseTempName(name)
		if !ok || its != tag || spare[name] || !gone(pid) {
			continue
		}
		path := filepath.Join(dir, name)
		if CheckPlain(path) == nil && os.Remove(path) == nil {
			removed = append(removed, path)
		}
	}
	return removed
}
