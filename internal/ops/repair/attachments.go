package repair

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
)

// ErrNotServed means that SillyTavern does not serve files from a folder.
var ErrNotServed = error(&ops.Kind{Code: "refused", Text: "SillyTavern shows no file from there: move the files into user/images or user/files of the user folder first"})

// attachments finds the files of a user folder that attachments may have meant.
type attachments struct {
	dir     userdir.Dir
	files   []*attachedFile
	byName  map[string][]*attachedFile
	answers map[rules.Attachment]answer
}

// answer says which file an attachment means.
type answer struct {
	file   *attachedFile // nil: it is not clear
	unsure string        // why it is not
}

// attachedFile is a file that an attachment may mean.
type attachedFile struct {
	path    string
	address string
	size    int64
	first   bool   // it is in the folder that was named
	sum     string // the beginning of its SHA-256, as slim names pictures; "": not read yet
}

// attachmentsIn lists the files in the folders in which SillyTavern keeps attachments, and in the folder from, if it
// is not "".
func attachmentsIn(dir userdir.Dir, from string) (*attachments, error) {
	a := &attachments{dir: dir, byName: map[string][]*attachedFile{}, answers: map[rules.Attachment]answer{}}
	known := map[string]bool{}
	if from != "" {
		if !dir.ServesFolder(from) {
			return nil, fmt.Errorf("%s: %w", from, ErrNotServed)
		}
		a.list(from, true, known)
	}

	for _, folder := range []string{"user/images", "user/files", "backgrounds"} {
		a.list(filepath.Join(dir.Root, filepath.FromSlash(folder)), false, known)
	}
	return a, nil
}

// list adds the files in a folder and in those below it. What cannot be read is left out.
func (a *attachments) list(folder string, first bool, known map[string]bool) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		full := filepath.Join(folder, e.Name())
		if e.IsDir() {
			a.list(full, first, known)
			continue
		}
		info, err := os.Stat(full)
		address, served := a.dir.Address(full)
		if err != nil || !info.Mode().IsRegular() || !served || known[address] {
			continue
		}
		known[address] = true
		f := &attachedFile{path: full, address: address, size: info.Size(), first: first}
		a.files = append(a.files, f)
		a.byName[e.Name()] = append(a.byName[e.Name()], f)
	}
}

// find returns the only file that a missing attachment may mean, nil if it is not clear.
func (a *attachments) find(missing rules.Attachment) *attachedFile {
	known, ok := a.answers[missing]
	if ok {
		return known.file
	}

	fitting := a.fitting(missing)
	if len(fitting) == 1 {
		known.file = fitting[0]
	} else {
		known.unsure = why(fitting)
	}

	a.answers[missing] = known
	return known.file
}

// why says why a file was not found, where not exactly one may be it.
func why(fitting []*attachedFile) string {
	if len(fitting) == 0 {
		return "no file fits"
	}
	var places []string
	for _, f := range fitting {
		places = append(places, f.address)
	}
	const shown = 3
	text := strings.Join(places[:min(shown, len(places))], ", ")
	if more := len(places) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "may be any of " + text
}

// fitting returns the files that a missing attachment may mean: those of its name and size, or else, of a
// picture that slim named, those with its bytes. Of these only those in the folder that was named, if there
// are any.
func (a *attachments) fitting(missing rules.Attachment) []*attachedFile {
	names := fileNamesOf(missing.Address)
	var list []*attachedFile
	for _, name := range names {
		list = append(list, a.named(name, missing)...)
	}
	if len(list) == 0 && missing.Size >= 0 {
		list = a.named(missing.Name, missing)
	}
	if len(list) == 0 {
		list = a.withBytes(names)
	}

	isFirst := func(f *attachedFile) bool { return f.first }
	if slices.ContainsFunc(list, isFirst) {
		list = slices.DeleteFunc(list, func(f *attachedFile) bool { return !isFirst(f) })
	}
	return list
}

// fileNamesOf returns the names that the file of an address may have, the likeliest first.
func fileNamesOf(address string) []string {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	return userdir.Readings(path.Base(address))
}

// named returns the files of a name that have the attachment's size.
func (a *attachments) named(name string, missing rules.Attachment) (list []*attachedFile) {
	for _, f := range a.byName[name] {
		if missing.Size < 0 || f.size == missing.Size || isConverted(name, missing) {
			list = append(list, f)
		}
	}
	return list
}

// isConverted reports whether SillyTavern made a text of the file that the user attached, such as a PDF: then the
// size that the attachment has is that of the original.
func isConverted(name string, missing rules.Attachment) bool {
	return missing.Name != "" && !strings.EqualFold(path.Ext(name), path.Ext(missing.Name))
}

// sumLength is how many digits of the SHA-256 of a picture are its name, where slim made the file.
const sumLength = 16

// withBytes returns the files whose bytes have the sum that is the name of a picture.
func (a *attachments) withBytes(names []string) (list []*attachedFile) {
	for _, name := range names {
		extension := path.Ext(name)
		sum := strings.TrimSuffix(name, extension)
		if len(sum) != sumLength || strings.Trim(sum, "0123456789abcdef") != "" {
			continue
		}
		for _, f := range a.files {
			if strings.EqualFold(path.Ext(f.path), extension) && f.hasSum(sum) {
				list = append(list, f)
			}
		}
	}
	return list
}

// hasSum reports whether the SHA-256 of a file begins with sum. It is read once.
func (f *attachedFile) hasSum(sum string) bool {
	if f.sum == "" {
		f.sum = sumOf(f.path)
	}
	return f.sum == sum
}

// sumOf returns the beginning of the SHA-256 of a file, "-" if it cannot be read.
func sumOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return "-"
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "-"
	}
	return hex.EncodeToString(hash.Sum(nil))[:sumLength]
}

// moved is the attachments of one chat that are repaired.
type moved struct {
	all  *attachments
	used []*attachedFile           // the files that the chat names now, each once
	left map[rules.Attachment]bool // what is not there and was not found
}

// repair returns what repairs the attachments of the chat.
func (m *moved) repair() *rules.AttachmentRepair {
	return &rules.AttachmentRepair{Dir: m.all.dir, Find: func(missing rules.Attachment) (string, bool) {
		file := m.all.find(missing)
		if file == nil {
			m.left[missing] = true
			return "", false
		}
		if !slices.Contains(m.used, file) {
			m.used = append(m.used, file)
		}
		return file.address, true
	}}
}

// rely notes that the files must still be there when the chat is written.
func (m *moved) rely(set *changeset.Set) error {
	for _, f := range m.used {
		stamp, err := safefile.StampPath(f.path)
		if err != nil {
			return ops.PathError(err)
		}
		set.Rely(f.path, stamp)
	}
	return nil
}

// told says which attachments were not found: those that may be several files by name, the others counted.
func (m *moved) told() (list []string) {
	nowhere := 0
	for missing := range m.left {
		reason := m.all.answers[missing].unsure
		if reason == why(nil) {
			nowhere++
			continue
		}
		list = append(list, fmt.Sprintf("missing-attachment: %q %s", clip(missing.Address), reason))
	}

	slices.Sort(list)

	const shown = 5
	if more := len(list) - shown; more > 0 {
		list = append(list[:shown], fmt.Sprintf("missing-attachment: %d more may be any of several files", more))
	}
	if nowhere > 0 {
		list = append(list, fmt.Sprintf("missing-attachment: no file of their name and size for %d", nowhere))
	}
	return list
}
