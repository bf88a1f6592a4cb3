package inspect

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/folder/library"
	"stchat/internal/lorebook"
	"stchat/internal/place/userdir"
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

// Overview is what is known of a folder of chats: their summary, and whose they are.
type Overview struct {
	Summary
	Owners       []Owner       // the largest first
	DamagedChats []DamagedChat // in the order of the chats
	Books        []BookUse     // the most used first
}

// Owner is a character or a group, and what its chats add up to.
type Owner struct {
	Name     string // "" for chats in a folder that nobody owns
	Place    string // the path of the character's folder, or what stands for a group
	Chats    int
	Messages int
	Bytes    int64
}

// DamagedChat is a chat with damaged lines.
type DamagedChat struct {
	Path  string
	Name  string
	Owner string // "" if nobody owns it
	Lines int    // how many are damaged
}

// BookUse is a lorebook, and how many of the chats name it.
type BookUse struct {
	Name  string
	Path  string
	Chats int
}

// Summer adds up reports.
type Summer struct {
	Overview
	owners map[string]*Owner // by place
	books  map[string]int    // how many chats name a lorebook, by its path
	around *library.Library
}

// NewSummer returns a Summer without reports.
func NewSummer(around *library.Library) *Summer {
	s := &Summer{owners: map[string]*Owner{}, books: map[string]int{}, around: around}
	s.Schema = Schema
	s.Summary.Summary = true
	return s
}

// Add adds one chat.
func (s *Summer) Add(r *Report) {
	s.Chats++
	s.add(r.Counts)
	s.Bytes += r.Bytes
	s.addToOwner(r)
	if r.DamageTotal > 0 {
		s.Damaged++
		s.DamagedLines += r.DamageTotal
		s.DamagedChats = append(s.DamagedChats, DamagedChat{Path: r.Path, Name: r.Name, Owner: r.ownerName(), Lines: r.DamageTotal})
	}
	if dir, ok := userdir.Find(r.Path); ok {
		for _, path := range bookPaths(s.around, dir, r.Books) {
			s.books[path]++
		}
	}
}

// addToOwner adds a chat to those of its character or group.
func (s *Summer) addToOwner(r *Report) {
	place := filepath.Dir(r.Path)
	isGroup := r.Kind == string(userdir.Group)
	if isGroup && r.Owner != nil {
		place += string(filepath.Separator) + *r.Owner // all groups have one folder
	}

	o := s.owners[place]
	if o == nil {
		o = &Owner{Name: r.ownerName(), Place: place}
		s.owners[place] = o
		if r.Kind == string(userdir.Solo) {
			s.Characters++
		}
	}
	o.Chats++
	o.Messages += r.Messages
	o.Bytes += r.Bytes
}

// ownerName returns the name of the character or group, "" if there is none.
func (r *Report) ownerName() string {
	if r.Owner == nil {
		return ""
	}
	return *r.Owner
}

// bookPaths returns the paths of the lorebooks that have one of the names in a user folder, each once.
// Those that do not exist have none.
func bookPaths(around *library.Library, dir userdir.Dir, names []string) (paths []string) {
	for _, name := range names {
		path, err := around.Book(dir, name)
		if err == nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// Finish returns the overview, with what the user folders hold besides their chats,
// and the errors of reading them.
func (s *Summer) Finish(users []userdir.Dir) (Overview, []error) {
	var errs []error
	if len(users) > 0 {
		errs = s.addUsers(users)
	}

	for _, o := range s.owners {
		s.Owners = append(s.Owners, *o)
	}
	slices.SortFunc(s.Owners, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Place, b.Place))
	})

	for path, chats := range s.books {
		name := strings.TrimSuffix(filepath.Base(path), lorebook.Extension)
		s.Books = append(s.Books, BookUse{Name: name, Path: path, Chats: chats})
	}
	slices.SortFunc(s.Books, func(a, b BookUse) int {
		return cmp.Or(cmp.Compare(b.Chats, a.Chats), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
	return s.Overview, errs
}

// addUsers counts the groups of user folders, and divides their lorebooks into used and unused ones.
func (s *Summer) addUsers(users []userdir.Dir) (errs []error) {
	groups := 0
	books := &Lorebooks{}
	for _, dir := range users {
		set, err := s.around.Groups(dir)
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
			if !ok || name == "" || !e.Type().IsRegular() {
				continue
			}
			path := filepath.Join(dir.Worlds(), e.Name())
			if s.books[path] > 0 {
				books.Used = append(books.Used, name)
			} else {
				books.Unused = append(books.Unused, name)
				s.books[path] = 0 // it is listed, too
			}
		}
	}

	slices.Sort(books.Used)
	slices.Sort(books.Unused)
	s.Groups = &groups
	s.Lorebooks = books
	return errs
}
