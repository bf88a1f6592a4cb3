package keep

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/group"
	"stchat/internal/history"
	"stchat/internal/userdir"
)

// byLabel finds a chat by its label, OWNER/NAME: the character's folder or the group's name,
// and the name that the chat has, or had.
func (s *subject) byLabel(ctx context.Context, label string) error {
	owner, name, ok := strings.Cut(filepath.ToSlash(strings.TrimSuffix(label, ".jsonl")), "/")
	if !ok || strings.Contains(name, "/") {
		return nil
	}
	all, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	ofGroup := s.isGroup(owner)
	for i := range all {
		c := &all[i]
		if c.Kind.IsChat() && c.Name == name && (path.Base(c.Owner) == owner || ofGroup && c.Kind == history.Group) {
			s.chats = append(s.chats, *c)
			s.goTo(c)
		}
	}
	folders := []string{path.Join("chats", owner), owner}
	if ofGroup {
		folders = append(folders, "group chats")
	}
	for _, folder := range folders {
		if len(s.chats) > 0 {
			break
		}
		rel := path.Join(folder, name+".jsonl")
		if s.chats, err = s.store.At(ctx, rel); err != nil { // a former name
			return err
		}
		if p := filepath.Join(s.root, filepath.FromSlash(rel)); exists(p) { // a chat that only has backups
			s.rel, s.path = rel, p
		} else {
			s.follow()
		}
	}
	return nil
}

// isGroup reports whether a group of the user has this name.
func (s *subject) isGroup(name string) bool {
	groups, err := group.LoadAll(userdir.Dir{Root: s.root}.Groups())
	return err == nil && slices.ContainsFunc(groups.Files, func(f *group.File) bool { return f.Name == name })
}

// follow goes to where a chat is now that was found by a former name.
func (s *subject) follow() {
	if len(s.chats) > 0 && s.chats[0].Path() != s.rel {
		s.goTo(&s.chats[0])
	}
}

func (s *subject) goTo(c *history.Chat) {
	s.rel = c.Path()
	s.path = filepath.Join(s.root, filepath.FromSlash(s.rel))
}

// moved finds the identity of a file that no snapshot saw under this name, if it is a chat
// that was renamed or moved.
func (s *subject) moved(ctx context.Context) error {
	all, err := s.store.Chats(ctx)
	if err != nil {
		return err
	}
	lost, _ := newPresent(&scope{root: s.root}).compare(all)
	if len(lost) == 0 || !exists(s.path) {
		return nil
	}
	content, err := s.compare(s.path)
	if err != nil {
		return err
	}
	kind, owner, name := history.Place(s.rel)
	known, err := s.w.Identify(history.Candidate{Kind: kind, Owner: owner, Name: name, Missing: &lost}, content)
	if err == nil && known.ID != 0 {
		s.chats = append(s.chats, known)
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
