package autorecap

import (
	"strconv"

	"stchat/internal/rawjson"
)

// BookName returns auto_lorebooks.lorebookName, the lorebook to which Auto-Recap writes,
// "" if none is noted.
func BookName(metadata *rawjson.Object) string {
	name, _ := rawjson.Unquote(rawjson.Value(metadata.Value(keyBooks), "lorebookName"))
	return name
}

// Followed says what [FollowBook] changed.
type Followed struct {
	Renamed     bool
	Kept, Total int // entries of the registry's index; equal if none went
}

// FollowBook points auto_lorebooks at the lorebook called name and removes the entries of its
// index for whose uid gone returns true.
func FollowBook(metadata *rawjson.Object, name string, gone func(uid string) bool) (f Followed) {
	metadata.Edit(func(books *rawjson.Object) {
		if raw, ok := books.Get("lorebookName"); ok {
			if old, _ := rawjson.Unquote(raw); old != name {
				books.Set("lorebookName", rawjson.Quote(name))
				f.Renamed = true
			}
		}
		books.Edit(func(index *rawjson.Object) {
			f.Total = index.Len()
			for _, key := range index.Keys() {
				if gone(indexUID(key, index.Value(key))) {
					index.Unset(key)
				}
			}
			f.Kept = index.Len()
		}, "registry", "index")
	}, keyBooks)
	return f
}

// indexUID returns the uid of an entry of the registry's index. It should equal the key,
// which counts if the entry has no uid.
func indexUID(key string, raw []byte) string {
	if uid, ok := rawjson.Lookup(raw, "uid"); ok {
		if n, ok := rawjson.Float(uid); ok && n >= 0 && n <= 1<<53 && n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10)
		}
		if s, ok := rawjson.Unquote(uid); ok {
			return s
		}
	}
	return key
}
