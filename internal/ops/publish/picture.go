package publish

import (
	"cmp"
	"encoding/base64"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/picture"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// pictureMost is how large a picture in a page may be, in bytes.
const pictureMost = 2 << 20

// picture returns markup for a picture: the picture itself if it is ours, and fits, else a line.
func (g *pager) picture(m *look.Message, address, kind, title, missing string) string {
	line := attachment(kind, title, missing)
	if missing != "" {
		g.leftPicture(m, address, "missing")
		return line
	}
	if kind != "picture" {
		return line
	}
	data, reason := g.bytesOf(address)
	if reason == "" {
		bare, mediaType, err := picture.Bare(data)
		switch {
		case err != nil:
			reason = "not a PNG, JPEG, GIF or WebP, or a damaged one"
		case int64(len(bare)) > g.room:
			reason = "the page has enough pictures"
		default:
			g.room -= int64(len(bare))
			g.p.Doc.Pictures++
			return `<img alt="` + prose.Escape(cmp.Or(title, kind)) + `" src="data:` + mediaType + ";base64," + base64.StdEncoding.EncodeToString(bare) + `"/>`
		}
	}

	g.leftPicture(m, address, reason)
	return line
}

// attachment returns the line for what is not in the page.
func attachment(kind, title, missing string) string {
	if title != "" {
		kind += ": " + title
	}
	return "[" + prose.Escape(kind) + missing + "]"
}

// bytesOf returns a picture that stands in an address, or below user/images and user/files, or
// why there is none.
func (g *pager) bytesOf(address string) (data []byte, reason string) {
	if rest, ok := strings.CutPrefix(address, "data:"); ok {
		about, body, _ := strings.Cut(rest, ",")
		if len(body) > pictureMost*4/3+4 {
			return nil, "too large"
		}
		if !strings.HasSuffix(about, ";base64") {
			return nil, "not in base64"
		}
		data, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return nil, "not in base64"
		}
		return data, ""
	}

	dir, ok := userdir.Find(g.p.path)
	if !ok {
		return nil, "not in a user folder"
	}
	place, exists, _ := dir.Served(address)
	if !exists {
		return nil, "elsewhere, or missing"
	}
	path := filepath.Join(dir.Root, filepath.FromSlash(place))
	if !userdir.Inside(filepath.Join(dir.Root, "user", "images"), path) && !userdir.Inside(filepath.Join(dir.Root, "user", "files"), path) {
		return nil, "not in user/images or user/files"
	}
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, "cannot be read"
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, pictureMost+1))
	switch {
	case err != nil:
		return nil, "cannot be read"
	case len(data) > pictureMost:
		return nil, "too large"
	}
	return data, ""
}

// avatars are those of a page: each file once.
type avatars struct {
	numbers map[string]int // of files; -1: it is no picture, or there is none
	of      map[string]int // of what messages name
	images  []string       // data: URLs
}

// find returns the number of a message's avatar, -1 if it has none.
func (a *avatars) find(g *pager, m *look.Message) int {
	forced, _ := rawjson.Unquote(m.Raw.Avatar)
	key := forced
	if forced == "" && m.Role != string(message.Character) {
		return -1
	}
	if n, ok := a.of[key]; ok {
		return n
	}
	path := g.avatarFile(forced)
	n, ok := a.numbers[path]
	if !ok {
		n = a.add(path)
		a.numbers[path] = n
	}
	a.of[key] = n
	return n
}

func (a *avatars) add(path string) int {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return -1
	}
	defer f.Close()
	data, mediaType, err := picture.Avatar(f)
	if err != nil {
		return -1
	}
	a.images = append(a.images, "data:"+mediaType+";base64,"+base64.StdEncoding.EncodeToString(data))
	return len(a.images) - 1
}

// symbols returns what the messages' avatars refer to.
func (a *avatars) symbols() string {
	if len(a.images) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<svg class=\"defs\" aria-hidden=\"true\">")
	for i, address := range a.images {
		b.WriteString(`<symbol id="a` + strconv.Itoa(i) + `" viewBox="0 0 96 96"><image width="96" height="96" preserveAspectRatio="xMidYMid slice" href="` + address + `"/></symbol>`)
	}
	return b.String() + "</svg>\n"
}

// avatarFile returns the file of an avatar that a message names (SillyTavern public/script.js,
// getThumbnailUrl), else that of the owner's card; "" if there is none in the user folder.
func (g *pager) avatarFile(forced string) string {
	dir, ok := userdir.Find(g.p.path)
	if !ok {
		return ""
	}
	folder, file := "", ""
	if forced == "" {
		path, err := card.Find(dir, g.p.owner)
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".png") {
			return ""
		}
		folder, file = "characters", filepath.Base(path)
	} else if address, err := url.Parse(forced); err == nil {
		q := address.Query()
		folder = map[string]string{"avatar": "characters", "persona": "User Avatars"}[q.Get("type")]
		file = q.Get("file")
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(address.Path, "/"), "User Avatars/"); ok {
			folder, file = "User Avatars", rest
		}
	}

	if folder == "" || !names.Safe(file) {
		return ""
	}
	path := filepath.Join(dir.Root, folder, file)
	if !userdir.Inside(filepath.Join(dir.Root, folder), path) {
		return ""
	}
	return path
}
