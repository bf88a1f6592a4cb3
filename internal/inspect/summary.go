package inspect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/lorebook"
	"stchat/internal/userdir"
)

// Summary is what several chats add up to. It is also the last JSON document
// of inspect, where there is more than one chat.
type Summary struct {
	Schema  int  `json:"schema"`
	Summary bool `json:"summary"` // true
	Chats   int  `json:"chats"`
	Counts
	Bytes        int64 `json:"bytes"`
	Damaged      int   `json:"damaged"` // chats with damage
	DamagedLines int   `json:"damaged_lines"`
	Failed       int   `json:"failed"` // files that could not be read

	Characters int  `json:"characters"` // folders of solo chats
	Groups     *int `json:"groups"`     // group files; null where no PATH is a user folder

	Lorebooks *Lorebooks `json:"lorebooks"` // null where no PATH is a user folder
}

// Lorebooks are the lorebooks of a user folder by whether one of its chats
// names them. A character or a setting may use one that no chat does.
type Lorebooks struct {
	Used   []string `json:"used"`
	Unused []string `json:"unused"`
}

// Summer adds up reports.
type Summer struct {
	Summary
	owners map[string]bool
	books  map[string]bool // paths of lorebooks in use
	around *Around
}

// NewSummer returns a Summer without reports.
func NewSummer(around *Around) *Summer {
	return &Summer{Summary: Summary{Schema: Schema, Summary: true}, owners: map[string]bool{}, books: map[string]bool{}, around: around}
}

// Add adds one chat.
func (s *Summer) Add(r *Report) {
	s.Chats++
	s.add(r.Counts)
	s.Bytes += r.Bytes
	s.DamagedLines += r.DamageTotal
	if r.DamageTotal > 0 {
		s.Damaged++
	}
	if folder := filepath.Dir(r.Path); r.Kind == string(userdir.Solo) && !s.owners[folder] {
		s.owners[folder] = true
		s.Characters++
	}
	if dir, ok := userdir.Find(r.Path); ok {
		for _, name := range r.Books {
			s.books[s.around.book(dir, name).path] = true
		}
	}
}

// Finish returns the summary, with what the user folders hold besides their chats,
// and the errors of reading them.
func (s *Summer) Finish(users []userdir.Dir) (Summary, []error) {
	if len(users) == 0 {
		return s.Summary, nil
	}
	var errs []error
	groups := 0
	books := &Lorebooks{}
	for _, dir := range users {
		set, err := s.around.In(dir)
		if err != nil {
			errs = append(errs, err)
		} else {
			groups += len(set.Files)
			errs = append(errs, set.Bad...)
		}
		entries, err := os.ReadDir(dir.Worlds())
		if err != nil && !os.IsNotExist(err) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), lorebook.Extension)
			switch {
			case !ok || name == "" || !e.Type().IsRegular():
			case s.books[filepath.Join(dir.Worlds(), e.Name())]:
				books.Used = append(books.Used, name)
			default:
				books.Unused = append(books.Unused, name)
			}
		}
	}
	slices.Sort(books.Used)
	slices.Sort(books.Unused)
	s.Groups, s.Lorebooks = &groups, books
	return s.Summary, errs
}
