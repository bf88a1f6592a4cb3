package rules

import (
	"bytes"
	"hash/maphash"

	"stchat/internal/extension"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/message"
)

// lineJudge judges lines by themselves. Lines are judged concurrently; the results go
// into their batch.
type lineJudge struct {
	hasher     hasher
	served     *userdir.Dir          // where attachments are looked for; nil: nowhere
	extensions []extension.Extension // that judge what they see; none if the chat is not checked
	keys       []string              // that they read of extra
}

// line judges one line by itself.
func (j lineJudge) line(l *jsonl.Line, b *batch) {
	if b.lines++; b.lines == 1 {
		b.head = l.Number
	}
	b.last = l.Number
	before := b.torn
	if b.torn != nil {
		b.findings.add(*b.torn)
		b.torn = nil
	}
	if l.CRLF {
		if b.crlf++; b.crlf == 1 {
			b.crlfLine = l.Number
		}
	}

	if l.Damage != nil {
		b.damaged(l)
		if before == nil {
			b.tornFrom = l.Number
		}
		return
	}

	if l.Index == 0 {
		b.lead = l.Number
	}
	if l.BadUTF8 {
		b.add(InvalidUTF8, l, nil, "bytes that are not UTF-8 inside a string")
	}
	b.sighting.Reset(j.keys)
	if isHeader(l) {
		h := headerLine{index: l.Index, number: l.Number, at: Span{l.Off, int64(len(l.Raw))}, hash: maphash.Bytes(j.hasher.seed, bytes.TrimRight(l.Raw, "\r"))}
		if l.Index == 0 {
			h.raw = append([]byte(nil), l.Raw...)
		}
		b.headers = append(b.headers, h)
		b.hashes = append(b.hashes, 0)
		j.sight(l, b)
		return
	}

	j.message(l, b)
}

// message judges one message.
func (j lineJudge) message(l *jsonl.Line, b *batch) {
	b.hashes = append(b.hashes, j.hasher.hash(l))
	judgeShape(l, b)
	judgeSwipes(l, b)
	judgeDate(l, b)
	judgeKeys(l, b)
	b.sighting.Texts[0], _ = l.Value(keyMes)
	if l.Count(keySwipes) > 1 {
		b.sighting.Texts[1], _ = l.Value(keySwipes)
	}
	before := len(b.links)
	if extra, ok := l.Value(keyExtra); ok && len(extra) > 2 && extra[0] == '{' {
		j.extra(l, b, extra)
	}
	swipeLinks(l, b, before)
	j.sight(l, b)
}

// OnMessages returns the rules that [RepairMessage] knows.
func OnMessages() Set { return OnSwipes().With(OnLinks()).With(SetOf(LegacyMedia, MissingAttachment)) }

// RepairMessage returns a message with everything repaired that is wanted and is in the message
// itself, or line if there is nothing to repair. first reports whether it is the chat's first message.
func RepairMessage(want Set, links *LinkRepair, files *AttachmentRepair, line []byte, first bool) (out []byte, changes []Change) {
	out = line
	if want.HasAny(OnSwipes()) {
		out, changes = repairSwipes(want, out, first)
	}
	if want.HasAny(OnLinks()) {
		var more []Change
		out, more = links.message(want, out)
		changes = append(changes, more...)
	}

	if want.Has(LegacyMedia) {
		var more []Change
		out, more = repairMedia(out)
		changes = append(changes, more...)
	}

	if want.Has(MissingAttachment) {
		var more []Change
		out, more = files.message(out)
		changes = append(changes, more...)
	}
	return out, changes
}

// sight asks extensions what they see in the message, or in a header among the messages.
func (j lineJudge) sight(l *jsonl.Line, b *batch) {
	s := &b.sighting
	s.Swipe, _ = l.Value(keySwipeID)
	for i, e := range j.extensions {
		s.Seen = s.Seen[:0]
		e.Sight(s)
		for _, seen := range s.Seen {
			b.marks = append(b.marks, mark{i, seen.ID, l.Number, column(l, seen.In), l.Index})
		}
	}
}

// extra judges the message's extra, and collects its links.
func (j lineJudge) extra(l *jsonl.Line, b *batch, extra []byte) {
	var r repeats
	suspect := false
	var bookmark, branches []byte
	var attached [numAttachmentKeys][]byte
	any := false
	l.Inside(keyExtra, func(key, value []byte) {
		if bytes.IndexByte(key, '\\') >= 0 {
			suspect = true
			decoded, _ := rawjson.Unquote(key)
			key = rawjson.Quote(decoded)
		}

		suspect = r.next(key) || suspect
		switch string(key) {
		case `"bookmark_link"`:
			bookmark = value
		case `"branches"`:
			branches = value
		default:
			if i := attachmentKey(key); i >= 0 {
				attached[i], any = value, true
			}
			b.sighting.Set(key, value)
		}
	})

	if suspect {
		if first, n := duplicates(extra); n > 0 {
			b.add(DuplicateKey, l, extra, duplicateMessage("extra", first, n))
		}
	}

	j.links(l, b, extra, bookmark, branches)
	if !any {
		return
	}
	judgeLegacyMedia(l, b, extra, &attached)
	if j.served != nil {
		judgeAttachments(l, b, *j.served, extra, &attached)
	}
}

// links collects the message's links.
func (j lineJudge) links(l *jsonl.Line, b *batch, extra, bookmark, branches []byte) {
	if bookmark == nil && branches == nil {
		return
	}
	eachLink(bookmark, branches, func(kind LinkKind, name string) {
		b.links = append(b.links, Link{Kind: kind, Name: name, Index: l.Index, Line: l.Number, Column: column(l, extra)})
	})
}

// swipeLinks collects the links that only the message's swipes have. Those of the message itself are in the
// batch, from the one at own on.
func swipeLinks(l *jsonl.Line, b *batch, own int) {
	infos, _ := l.Value(keySwipeInfo)
	if !message.MayLink(infos, l.Plain) {
		return
	}
	type link struct {
		kind LinkKind
		name string
	}
	seen := map[link]bool{}
	for _, known := range b.links[own:] {
		seen[link{known.Kind, known.Name}] = true
	}

	for info := range rawjson.Elements(infos) {
		extra := rawjson.Value(info, "extra")
		eachLink(rawjson.Value(extra, "bookmark_link"), rawjson.Value(extra, "branches"), func(kind LinkKind, name string) {
			if seen[link{kind, name}] {
				return
			}
			seen[link{kind, name}] = true
			b.links = append(b.links, Link{Kind: kind, Name: name, Index: l.Index, Line: l.Number, Column: column(l, infos), Swipe: true})
		})
	}
}

// eachLink calls f with the links in two values of an extra.
func eachLink(bookmark, branches []byte, f func(kind LinkKind, name string)) {
	call := func(kind LinkKind, raw []byte) {
		name, ok := rawjson.Unquote(raw)
		if ok && name != "" {
			f(kind, name)
		}
	}
	call(Checkpoint, bookmark)
	for raw := range rawjson.Elements(branches) {
		call(Branch, raw)
	}
}

// isHeader is meta.IsHeader for a line whose members are known.
func isHeader(l *jsonl.Line) bool {
	has := func(k int) bool { _, ok := l.Value(k); return ok }
	return has(keyMetadata) || (has(keyUserName) || has(keyCharacterName)) && !has(keyMes)
}

// The keys of a line that are read.
const (
	keyName = iota
	keyIsUser
	keyMes
	keyDate
	keySwipeID
	keySwipes
	keySwipeInfo
	keyExtra
	keyMetadata
	keyUserName
	keyCharacterName
)

func lineKeys() *jsonl.Keys {
	return jsonl.NewKeys("name", "is_user", "mes", "send_date", "swipe_id", "swipes", "swipe_info", "extra",
		"chat_metadata", "user_name", "character_name").Inside("extra")
}

// hasher hashes messages. Only hashes of the same hasher are comparable.
type hasher struct{ seed maphash.Seed }

// hash returns the hash of what is the same in all chats that share a message: name
// and mes as they are spelled, and whether is_user is true.
func (h hasher) hash(l *jsonl.Line) uint64 {
	name, _ := l.Value(keyName)
	user, _ := l.Value(keyIsUser)
	mes, _ := l.Value(keyMes)
	sum := maphash.Bytes(h.seed, mes)
	sum = roll(sum, maphash.Bytes(h.seed, name))
	if rawjson.Truthy(user) {
		sum = ^sum
	}
	return sum
}

// roll adds one more message to a rolling hash.
func roll(chain, message uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	chain = (chain ^ message) * odd
	return chain ^ chain>>29
}
