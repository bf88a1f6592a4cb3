package group

import (
	"errors"
	"io/fs"
	"path/filepath"

	"stchat/internal/safefile"
)

// Set is what a folder of group files holds.
type Set struct {
	// Files are the groups that could be read, in the order of their files' names.
	Files []*File
	// Bad are the errors of those that could not, in the same order.
	Bad []error

	byChat  map[string][]*File
	open    map[string][]*File
	keeping map[string][]*File
}

// LoadAll reads every *.json in groupsDir. A file that cannot be read goes into
// [Set.Bad] and does not stop the others; a folder that does not exist holds no
// groups. The error is that of reading the folder.
func LoadAll(groupsDir string) (*Set, error) {
	s := &Set{
		byChat: map[string][]*File{}, open: map[string][]*File{}, keeping: map[string][]*File{},
	}
	entries, err := safefile.ReadDir(groupsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".json" || entry.Name() == ".json" || entry.IsDir() {
			continue
		}
		f, err := Load(filepath.Join(groupsDir, entry.Name()))
		if err != nil {
			s.Bad = append(s.Bad, err)
			continue
		}
		s.add(f)
	}
	return s, nil
}

func (s *Set) add(f *File) {
	s.Files = append(s.Files, f)
	for name := range f.listed {
		s.byChat[name] = append(s.byChat[name], f)
	}
	for name := range f.keptFor() {
		s.keeping[name] = append(s.keeping[name], f)
	}
	s.open[f.ChatID] = append(s.open[f.ChatID], f)
	if safe := safeName(f.ChatID); safe != f.ChatID {
		s.open[safe] = append(s.open[safe], f)
	}
}

// Listing returns the groups that list the chat, see [File.Lists], in the order of
// their files' names. SillyTavern means it to be one at most.
func (s *Set) Listing(chat string) []*File { return s.byChat[chat] }

// Open returns the groups that have the chat open, whether they list it or not.
func (s *Set) Open(chat string) []*File { return s.open[chat] }

// Keeping returns the groups that hold metadata of the chat, see
// [File.OldMetadata], whether they list it or not.
func (s *Set) Keeping(chat string) []*File { return s.keeping[chat] }
