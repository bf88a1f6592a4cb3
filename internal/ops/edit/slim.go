package edit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// SlimOptions says what is dropped from chats, and where.
type SlimOptions struct {
	Options
	Choice                    choose.Choice
	Swipes, Reasoning, Images bool
	Extra                     []string // keys of extra that go
	KeepLast                  int      // how many messages at the end stay as they are
}

// Slimmed is the JSON document about one chat.
type Slimmed struct {
	Document
	Parts []SlimPart `json:"parts"`
	Files []string   `json:"files" is:"path"` // the pictures that were written
	Left  int        `json:"left"`            // messages that stay, since their chosen swipe is not their text
	Unfit int        `json:"unfit"`           // messages that stay, since what an extension keeps for each swipe does not fit their swipes
	// Spared is how many of the last messages, which stay, have something to drop.
	Spared int `json:"spared"`
}

// SlimPart is how much of one kind was dropped.
type SlimPart struct {
	Part     string `json:"part"`
	Messages int    `json:"messages"`
	Bytes    int64  `json:"bytes"`
}

// SlimResult is the result for one chat.
type SlimResult struct {
	*Result
	Slim Slimmed
}

// Document returns the document of slim.
func (r *SlimResult) Document() any { return r.Slim }

// Slim drops from chats what takes space and is not read any more: swipes that are not chosen,
// reasoning, and pictures inside messages, which become files.
func Slim(ctx context.Context, opt SlimOptions) []*SlimResult {
	opt.Changes.Precious = true
	files := &pictureFiles{inTurn: len(opt.Chats) == 1, drafted: map[string]bool{}}
	opt.again = files.takeTurns
	byPath := map[string]*slimming{}
	for _, path := range opt.Chats {
		byPath[path] = new(slimming)
	}
	results := run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		s := byPath[o.chat.Path]
		*s = slimming{opt: &opt, open: o, noted: map[int]bool{}, files: files}
		return s.plan(ctx)
	})

	list := make([]*SlimResult, len(results))
	for i, r := range results {
		list[i] = &SlimResult{Result: r}
		if r.Err == nil {
			list[i].Slim = byPath[r.Doc.Path].document()
		}
		list[i].Slim.Document = r.Doc
	}
	return list
}

// The parts that can be dropped.
const (
	swipesPart = iota
	reasoningPart
	imagesPart
	extraPart
	slimParts
)

// slimming is one chat that is made slim.
type slimming struct {
	opt   *SlimOptions
	open  *open
	files *pictureFiles

	mu       sync.Mutex
	noted    map[int]bool // messages; true: they have pictures
	left     int
	unfit    int
	spared   int
	dropped  [slimParts]SlimPart
	pictures []string // their files
}

func (s *slimming) document() (d Slimmed) {
	for i, wanted := range [slimParts]bool{s.opt.Swipes, s.opt.Reasoning, s.opt.Images, len(s.opt.Extra) > 0} {
		if part := s.dropped[i]; wanted {
			part.Part = [slimParts]string{"swipes", "reasoning", "images", "extra"}[i]
			d.Parts = append(d.Parts, part)
		}
	}
	d.Left = s.left
	d.Unfit = s.unfit
	d.Spared = s.spared
	d.Files = slices.Compact(slices.Sorted(slices.Values(s.pictures)))
	return d
}

// plan chooses the messages that may have something to drop. Of the last ones, it only counts those.
func (s *slimming) plan(ctx context.Context) (*Plan, error) {
	n, err := s.open.count(ctx)
	if err != nil {
		return nil, err
	}
	places, err := s.open.list(ctx, scanning{Choice: s.opt.Choice})
	p := &Plan{Change: places, Guard: s.staying}
	p.Edits = func(context.Context) func(choose.Place) Edit {
		return func(at choose.Place) Edit {
			return func(line []byte) ([]byte, error) {
				made := s.slim(line, at.Index == 0)
				changes := !bytes.Equal(made.line, line)
				if at.Index >= n-s.opt.KeepLast {
					if changes {
						s.spare()
					}
					return line, nil
				}

				if made.left || made.unfit || changes {
					s.note(p, at, made)
				}
				return made.line, nil
			}
		}
	}

	p.Before = func(set *changeset.Set) error { return s.writePictures(set, p) }
	return p, err
}

// spare counts a message that stays as it is one of the last. Its edit changes nothing, so it is made
// only once.
func (s *slimming) spare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spared++
}

// note counts what is dropped from a message, which may have been noted before.
func (s *slimming) note(p *Plan, at choose.Place, made slim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.noted[at.Index]; known {
		return
	}
	s.noted[at.Index] = len(made.pictures) > 0
	if made.left {
		s.left++
	}
	if made.unfit {
		s.unfit++
	}
	for i, bytes := range made.bytes {
		if bytes != 0 {
			s.dropped[i].Messages++
			s.dropped[i].Bytes += bytes
		}
	}

	for _, img := range made.pictures {
		s.pictures = append(s.pictures, s.path(img))
	}
	if !s.open.hasLog() {
		return // nothing else asks which swipes went
	}
	for _, swipe := range slices.Backward(made.gone) {
		p.swipeGoes(at.Index, swipe)
	}
}

// path is where a picture becomes a file: where those of the chat's owner lie. A group may have any
// name, .. too.
func (s *slimming) path(img inlined) string {
	owner := cmp.Or(names.File(s.open.chat.Owner), "_")
	return filepath.Join(s.open.chat.Dir.Root, "user", "images", owner, img.sum+img.ext)
}

// writePictures drafts the files that the pictures become. None that is there is overwritten.
func (s *slimming) writePictures(set *changeset.Set, p *Plan) error {
	written := map[string]bool{}
	for _, at := range p.Change {
		if !s.noted[at.Index] {
			continue
		}
		if !s.open.chat.HasDir {
			return s.open.chat.Errorf("the chat is not in a user folder, so its pictures have no place there")
		}
		line, err := s.open.chat.Source.Section(at.Off, at.Len)
		if err != nil {
			return s.open.chat.Errorf("%w", err)
		}
		for _, img := range s.slim(line, at.Index == 0).pictures {
			path := s.path(img)
			if written[path] {
				continue
			}
			written[path] = true
			err := s.files.write(set, path, img, s.opt.Changes.DryRun)
			if err != nil {
				return ops.PathError(err)
			}
		}
	}
	return nil
}

// errTurn means that a chat would write a picture that another chat of the call may hold, too.
var errTurn = errors.New("chats that share pictures are made slim one after the other")

// pictureFiles are the files that pictures become in one call. Several chats may hold one picture, and
// chats are drafted side by side. So of several chats, those that have a picture to write are put off
// until all others are written; then they take turns, and each finds what those before it wrote.
type pictureFiles struct {
	inTurn  bool            // one chat is drafted at a time
	drafted map[string]bool // while chats take turns
}

// takeTurns reports whether an error means that a chat was put off.
func (f *pictureFiles) takeTurns(err error) bool {
	isTurn := errors.Is(err, errTurn)
	f.inTurn = f.inTurn || isTurn
	return isTurn
}

// write drafts the file of a picture, unless it is there or, in a dry run, would be.
func (f *pictureFiles) write(set *changeset.Set, path string, img inlined, dryRun bool) error {
	raw, _, err := safefile.Read(path)
	switch {
	case err == nil && sumOf(raw) != img.sum:
		return &safefile.ExistsError{Path: path}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case !f.inTurn:
		return errTurn
	case dryRun && f.drafted[path]:
		return nil
	}

	f.drafted[path] = true
	return ops.Create(set, path, "a picture of the chat", img.data, changeset.InFolder())
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16]
}

// slim is a message made slim.
type slim struct {
	line     []byte
	left     bool  // its chosen swipe is not its text
	unfit    bool  // what an extension keeps for each swipe does not fit its swipes
	gone     []int // the swipes that go, from 0
	bytes    [slimParts]int64
	pictures []inlined
}

// inlined is a picture in a message.
type inlined struct {
	data     []byte
	sum, ext string
}

// slim returns a message without what is to be dropped. first says that it is the chat's first one, in
// which SillyTavern replaces the macros of the chosen greeting.
func (s *slimming) slim(line []byte, first bool) (made slim) {
	made.line = line
	step := func(part int, do func()) {
		before := len(made.line)
		do()
		made.bytes[part] = int64(before - len(made.line))
	}

	var at [4]rawjson.Span
	rawjson.Places(line, at[:], "swipes", "swipe_id", "mes", "is_user")
	value := func(k int) []byte { return line[at[k].At:at[k].End] }
	if swipes := value(0); rawjson.KindOf(swipes) == rawjson.Array && rawjson.Len(swipes) > 0 {
		chosen, _ := rawjson.Int(value(1))
		greets := first && !rawjson.Truthy(value(3))
		place, ok := rawjson.ElementPlace(swipes, chosen)
		made.left = !ok || !isText(swipes[place.At:place.End], value(2), greets)
		if made.left {
			return made
		}
		if s.opt.Swipes {
			step(swipesPart, func() { made.dropSwipes(chosen) })
		}
		if made.unfit {
			return made
		}
	}

	if s.opt.Reasoning {
		step(reasoningPart, func() {
			made.line = message.EditExtras(made.line, func(extra *rawjson.Object) {
				for _, key := range extra.Keys() {
					if isReasoning(key) {
						extra.Unset(key)
					}
				}
			})
		})
	}

	if len(s.opt.Extra) > 0 {
		step(extraPart, func() {
			made.line = message.EditExtras(made.line, func(extra *rawjson.Object) {
				for _, key := range s.opt.Extra {
					extra.Unset(key)
				}
			})
		})
	}

	if s.opt.Images {
		step(imagesPart, func() {
			made.line = message.EditExtras(made.line, func(extra *rawjson.Object) { s.extract(extra, &made) })
		})
	}
	return made
}

// isText reports whether a swipe is the message's text. greets says that the message is the greeting.
func isText(swipe, mes []byte, greets bool) bool {
	return rules.SameText(swipe, mes) || greets && rules.IsGreeted(swipe, mes)
}

func isReasoning(key string) bool { return key == "reasoning" || strings.HasPrefix(key, "reasoning_") }

// dropSwipes removes the swipes that are not chosen and have no link, and of the chosen one what
// the message says itself. It leaves a message in which this cannot be done without giving what an
// extension keeps for one swipe to another.
func (made *slim) dropSwipes(chosen int) {
	m, err := rawjson.ParseObject(made.line)
	if err != nil {
		return
	}
	linked := linkedSwipes(m)
	count := len(linked)
	keep := func(i int) bool { return i < count && (i == chosen || linked[i]) }
	if err := message.RemoveSwipes(m, keep, false); err != nil {
		made.unfit = true
		return
	}

	rank := 0 // of the chosen swipe among those that stay
	for i := range count {
		switch {
		case !keep(i):
			made.gone = append(made.gone, i)
		case i < chosen:
			rank++
		}
	}

	if len(made.gone) > 0 {
		m.Set("swipe_id", strconv.AppendInt(nil, int64(rank), 10))
	}
	dropCopyOfChosen(m, rank)
	made.line = m.Bytes()
}

// linkedSwipes says of each swipe of a message whether a checkpoint or a branch is linked to it.
func linkedSwipes(m *rawjson.Object) []bool {
	linked := make([]bool, rawjson.Len(m.Value("swipes")))
	swipe := 0
	for info := range rawjson.Elements(m.Value("swipe_info")) {
		if swipe == len(linked) {
			break
		}
		extra := rawjson.Value(info, "extra")
		isCheckpoint := rawjson.Truthy(rawjson.Value(extra, "bookmark_link"))
		hasBranches := rawjson.Len(rawjson.Value(extra, "branches")) > 0
		linked[swipe] = isCheckpoint || hasBranches
		swipe++
	}
	return linked
}

// dropCopyOfChosen empties the extra that the chosen swipe has in swipe_info: SillyTavern keeps it in the
// message, too (syncMesToSwipe of script.js).
func dropCopyOfChosen(m *rawjson.Object, chosen int) {
	m.EditList("swipe_info", func(i int, info []byte) ([]byte, bool) {
		if i != chosen {
			return info, true
		}
		return rawjson.Edit(info, func(info *rawjson.Object) {
			extra, has := info.Get("extra")
			if has {
				info.Set("extra", linksAndOperations(extra))
			}
		}), true
	})
}

// linksAndOperations returns the extra of a swipe with nothing but its links and operations on variables.
func linksAndOperations(extra []byte) []byte {
	stays := []string{luker.KeyOperations, "bookmark_link", "branches"}
	return rawjson.Edit(extra, func(extra *rawjson.Object) {
		for _, key := range extra.Keys() {
			if !slices.Contains(stays, key) {
				extra.Unset(key)
			}
		}
	})
}

// extract replaces the pictures in an extra by the addresses of files.
func (s *slimming) extract(extra *rawjson.Object, made *slim) {
	replace := func(o *rawjson.Object, key string) {
		img, ok := pictureIn(o.Value(key))
		rel, err := filepath.Rel(s.open.chat.Dir.Root, s.path(img))
		if ok && err == nil {
			made.pictures = append(made.pictures, img)
			o.Set(key, rawjson.Quote("/"+filepath.ToSlash(rel)))
		}
	}

	replace(extra, "image")
	extra.EditList("media", func(_ int, raw []byte) ([]byte, bool) {
		return rawjson.Edit(raw, func(medium *rawjson.Object) { replace(medium, "url") }), true
	})
}

// pictureIn returns the picture in a data: address.
func pictureIn(raw []byte) (img inlined, ok bool) {
	if len(raw) < 16 || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"data:`)) {
		return img, false
	}
	text, ok := rawjson.Unquote(raw)
	head, body, found := strings.Cut(text, ",")
	if !ok || !found || !strings.HasSuffix(head, ";base64") {
		return img, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return img, false
	}
	ext := extensionOf(data)
	return inlined{data, sumOf(data), ext}, ext != ""
}

// extensionOf tells the kinds of pictures that SillyTavern shows by their bytes; "" for others.
func extensionOf(data []byte) string {
	is := func(at int, mark string) bool {
		return len(data) >= at+len(mark) && string(data[at:at+len(mark)]) == mark
	}
	switch {
	case is(0, "\x89PNG\r\n\x1a\n"):
		return ".png"
	case is(0, "\xff\xd8\xff"):
		return ".jpg"
	case is(0, "GIF87a"), is(0, "GIF89a"):
		return ".gif"
	case is(0, "RIFF") && is(8, "WEBP"):
		return ".webp"
	case is(4, "ftypavif"), is(4, "ftypavis"):
		return ".avif"
	}
	return ""
}

// staying appends what of a message has to stay, for the guard.
func (s *slimming) staying(kept, line []byte) []byte {
	var at [7]rawjson.Span
	rawjson.Places(line, at[:], "name", "is_user", "is_system", "mes", "send_date", "extra", "swipes")
	for _, place := range at[:5] {
		kept = append(kept, line[place.At:place.End]...)
		kept = append(kept, 0)
	}

	extra := line[at[5].At:at[5].End]
	if s.opt.Reasoning || s.opt.Images || len(s.opt.Extra) > 0 {
		extra = rawjson.Edit(extra, func(extra *rawjson.Object) {
			for _, key := range extra.Keys() {
				isReasoning := s.opt.Reasoning && isReasoning(key)
				isPicture := s.opt.Images && (key == "media" || key == "image")
				if isReasoning || isPicture || slices.Contains(s.opt.Extra, key) {
					extra.Unset(key)
				}
			}
		})
	}

	kept = append(kept, extra...)
	if at[6].End > 0 {
		kept = stayingBeside(kept, line)
	}
	return kept
}

// stayingBeside appends what extensions read beside the swipes of a message: of a list, and of an object
// that has numbers for keys, the entry of the chosen swipe, and of all else the whole value.
func stayingBeside(kept, line []byte) []byte {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return append(kept, line...)
	}
	chosen, _ := rawjson.Int(m.Value("swipe_id"))
	for key, value := range m.All() {
		switch key {
		case "swipes", "swipe_id", "swipe_info", "extra":
			continue
		}

		switch rawjson.KindOf(value) {
		case rawjson.Array:
			place, _ := rawjson.ElementPlace(value, chosen)
			value = value[place.At:place.End]
		case rawjson.ObjectKind:
			if isNumbered(value) {
				value = rawjson.Value(value, strconv.Itoa(chosen))
			}
		}

		kept = append(kept, key...)
		kept = append(kept, 0)
		kept = append(kept, value...)
		kept = append(kept, 0)
	}
	return kept
}

// isNumbered reports whether all keys of an object are numbers.
func isNumbered(object []byte) bool {
	for rawKey := range rawjson.Members(object) {
		key, _ := rawjson.Unquote(rawKey)
		if strings.Trim(key, "0123456789") != "" {
			return false
		}
	}
	return true
}
