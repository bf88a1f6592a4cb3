package ops

import (
	"fmt"
	"os"
	"path/filepath"

	"stchat/internal/chat"
	"stchat/internal/luker"
	"stchat/internal/plural"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// lukerPlan is what a Luker chat takes along (FORMATS.md A1, A2).
type lukerPlan struct {
	is       bool // the source has Luker sidecars
	sidecars []luker.Sidecar
	files    []lukerFile // the new chat's sidecars, once they are made
}

// lukerFile is a sidecar of the new chat.
type lukerFile struct {
	path string
	data []byte
}

// What becomes of a sidecar.
const (
	SidecarCut   = "cut"        // a floor log, up to the last message
	SidecarEmpty = "empty"      // a floor log of which nothing is left: no file
	SidecarFresh = "fresh"      // chat_sync with the new chat's slug
	SidecarLeft  = "not copied" // it belongs to the source alone
)

// inDatabase looks once a user folder for Luker's database.
func (c *cut) inDatabase(dir userdir.Dir) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	reason, ok := c.databases[dir.Root]
	if !ok {
		reason = luker.InDatabase(dir.Root)
		c.databases[dir.Root] = reason
	}
	return reason
}

// planLuker finds the source's sidecars, and refuses where the files are not
// what Luker reads.
func (j *cutJob) planLuker() error {
	c := j.chat
	if c.HasDir {
		if reason := j.inDatabase(c.Dir); reason != "" {
			return c.Errorf("%s; export the chat from Luker and work on the export, outside this folder", reason)
		}
	}
	if j.path == chat.Stdin {
		return nil
	}
	list := j.sidecarsOf(j.path)
	j.luker.is, j.luker.sidecars = len(list) > 0, list
	if !j.beside {
		for _, s := range list {
			j.leave(s, "")
		}
		if len(list) > 0 {
			j.res.warn("%s: the new chat is not beside its source, so Luker's state (%s) does not go with it", c.Label(), plural.S(len(list), "sidecar"))
		}
		return nil
	}
	if left := j.sidecarsOf(j.target); len(left) > 0 {
		return fmt.Errorf("%s: there is Luker state of a chat of this name already, which the new chat would take for its own; remove it or choose another name", left[0].Path)
	}
	return nil
}

// sidecarsOf lists the sidecars of a chat in the source's folder, from the
// names read when the call was planned where that was done.
func (j *cutJob) sidecarsOf(path string) []luker.Sidecar {
	dir := filepath.Dir(path)
	if f := j.folders[dir]; f != nil {
		return luker.Among(f.luker, dir, userdir.ChatName(path))
	}
	list, err := luker.Sidecars(path)
	if err != nil {
		return nil // the folder cannot be listed, and so cannot be written
	}
	return list
}

// cutSidecars makes the new chat's sidecars, once its last message is known.
func (j *cutJob) cutSidecars() error {
	if !j.beside {
		return nil
	}
	for _, s := range j.luker.sidecars {
		target := filepath.Join(filepath.Dir(j.target), luker.SidecarName(j.name.File, s.Namespace))
		switch s.Kind {
		case luker.FloorLog:
			raw, err := os.ReadFile(s.Path)
			if err != nil {
				return pathError(err)
			}
			data, kept, dropped, err := luker.CutFloorLog(raw, j.at+1)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
			if data == nil {
				j.res.Sidecars = append(j.res.Sidecars, Sidecar{s.Path, SidecarEmpty})
				continue
			}
			j.addSidecar(target, data, SidecarCut)
			j.res.State = append(j.res.State, StateChange{"luker", fmt.Sprintf("%s: %d of %s kept", s.Namespace, kept, plural.S(kept+dropped, "commit"))})
		case luker.ChatSync:
			if j.res.Integrity != nil {
				j.addSidecar(target, luker.SyncData(*j.res.Integrity, j.Now.UnixMilli()), SidecarFresh)
			}
		default:
			j.leave(s, ": what it holds is known to its extension only")
		}
	}
	return nil
}

// leave lists a sidecar that does not go with the new chat, and why.
func (j *cutJob) leave(s luker.Sidecar, why string) {
	j.res.Sidecars = append(j.res.Sidecars, Sidecar{s.Path, SidecarLeft})
	j.res.note("%s: %s%s", s.Path, SidecarLeft, why)
}

func (j *cutJob) addSidecar(path string, data []byte, action string) {
	j.luker.files = append(j.luker.files, lukerFile{path, data})
	j.res.Sidecars = append(j.res.Sidecars, Sidecar{path, action})
}

// syncSlug writes the source's new slug to its chat_sync too: Luker reads that
// one first (FORMATS.md A1.6).
func (c *cut) syncSlug(first *cutJob, slug string) error {
	for _, s := range first.luker.sidecars {
		if s.Kind != luker.ChatSync || slug == "" {
			continue
		}
		was, err := safefile.StampPath(s.Path)
		if err == nil {
			_, err = safefile.Rewrite(s.Path, luker.SyncData(slug, c.Now.UnixMilli()), was, safefile.Options{NoSync: c.NoSync})
		}
		if err != nil {
			return fmt.Errorf("%s: the link is noted, but its new slug is not in Luker's sidecar: %w; open the chat in Luker and save it", first.path, pathError(err))
		}
	}
	return nil
}
