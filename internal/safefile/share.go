package safefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"time"
)

// TempName makes a name for a temporary file of this process.
func TempName() string {
	tag, _ := hostTag()
	return tempName(tag)
}

// IsTemp reports whether a file's name is one that TempName makes.
func IsTemp(name string) bool {
	_, _, ok := parseTempName(name)
	return ok
}

// AdoptOwner gives the file at path the owner and group of the file or folder like, as
// far as the user may.
func AdoptOwner(path, like string) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	_, err = adoptOwner(path, info)
	return err
}

// Self is this process, as names of temporary files and journals tell of it. The system is
// asked several questions for it, so who writes many files keeps one.
type Self struct {
	host, tag string
	sure      bool // tag proves something
}

// Own returns this process.
func Own() *Self {
	s := new(Self)
	s.tag, s.sure = hostTag()
	sum := sha256.Sum256([]byte(machine()))
	s.host = hex.EncodeToString(sum[:tagDigits/2])
	return s
}

// Host names this machine, through restarts, as far as the system tells.
func (s *Self) Host() string { return s.host }

// Process names this process, for [ProcessGone].
func (s *Self) Process() (realm string, pid int) {
	if s.sure {
		realm = s.tag
	}
	return realm, os.Getpid()
}

// ProcessGone reports whether it is certain that a process does not exist any more.
func ProcessGone(realm string, pid int) bool {
	tag, sure := hostTag()
	return sure && realm == tag && processGone(pid)
}

// ErrBusy means that another run held a lock for too long.
var ErrBusy = errors.New("another run of this program is writing there")

// patience is how long a lock is waited for: who holds one is giving files their names,
// which takes no time, or rendering an edit anew.
const patience = time.Minute

// Lock waits until no other run holds dir, and holds it until unlock is called. Who does
// not ask for locks, SillyTavern among them, is not kept from anything. held is false
// where locks are not to be had, on some network disks.
func Lock(ctx context.Context, dir string) (unlock func(), held bool, err error) {
	return lockWithin(ctx, dir, patience)
}

// lockFile takes the lock on f by try, waiting as [waitForLock] does. Closing f gives the
// lock back. held is false where try knows no such lock.
func lockFile(ctx context.Context, f *os.File, patience time.Duration, try func() error) (unlock func(), held bool, err error) {
	err = waitForLock(ctx, patience, try)
	if err == nil {
		return func() { _ = f.Close() }, true, nil // and with it the lock
	}
	_ = f.Close() // only locked
	if !errors.Is(err, ErrBusy) && ctx.Err() == nil {
		err = nil // there is no such thing here
	}
	return func() {}, false, err
}

// waitForLock tries until it succeeds, with growing pauses. try gives errLocked while
// somebody else holds the lock.
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
