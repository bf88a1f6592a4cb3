package safefile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

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
	if !self.sure {
		return nil
	}
	return removeStale(dir, self.tag, spare, processGone)
}

func removeStale(dir, tag string, spare map[string]bool, gone func(pid int) bool) []string {
	entries, err := os.ReadDir(dir)
	if err != nil && len(entries) == 0 {
		return nil
	}
	var removed []string
	for _, e := range entries {
		its, pid, ok := parseTempName(e.Name())
		if !ok || its != tag || spare[e.Name()] || !e.Type().IsRegular() || !gone(pid) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if os.Remove(path) == nil {
			removed = append(removed, path)
		}
	}
	return removed
}
