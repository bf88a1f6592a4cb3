package safefile

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// Ident identifies a file for another run: one that ends what a killed run began, or
// undoes a change. Unlike a [Stamp] it can be written down, and a new hard link leaves
// it the same.
type Ident struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`          // in ns since 1970
	Hash  string `json:"hash,omitempty"` // SHA-256 in hex; "" if not asked for
}

// IdentOf returns the identity of the regular file at path; symlinks are not followed.
// It includes the hash of a file of up to hashed bytes. The error is [ErrNotRegular] for
// anything else.
func IdentOf(path string, hashed int64) (Ident, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Ident{}, err
	}
	if !info.Mode().IsRegular() {
		return Ident{}, ErrNotRegular
	}
	id := Ident{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if id.Dev, id.Ino, err = fileID(path, info); err != nil || id.Size > hashed {
		return id, err
	}
	f, err := OpenPlain(path)
	if err != nil {
		return id, err
	}
	defer f.Close()
	sum := sha256.New()
	room := make([]byte, min(id.Size+1, 64<<10))
	if _, err := io.CopyBuffer(sum, io.LimitReader(f, hashed+1), room); err != nil {
		return id, err
	}
	id.Hash = hex.EncodeToString(sum.Sum(nil))
	return id, nil
}

// Ident returns the identity of the file with the stamp, which must not be zero; path must lead
// to it. hash is its content's, or "" if that is not known.
func (s Stamp) Ident(path, hash string) (Ident, error) {
	id := Ident{Size: s.Size(), Mtime: s.ModTime().UnixNano(), Hash: hash}
	var err error
	id.Dev, id.Ino, err = s.FileID(path)
	return id, err
}

// FileID returns the device and the inode of the file or folder that path leads to, or
// what Windows has in their place.
func FileID(path string) (dev, ino uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	return fileID(path, info)
}
