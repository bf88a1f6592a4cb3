package chatgen

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Preset returns the options of a named input of the benchmarks: small (200
// messages, 350 KB), medium (20,000 messages, 59 MB), large (350,000 messages,
// 1.04 GB) or images (300 messages, 1.13 GB). ok is false for another name.
// The benchmarks' archive is made by Archive.
func Preset(name string) (o Options, ok bool) {
	o = Options{Seed: 1, NonASCII: 0.05, Links: true}
	switch name {
	case "small":
		o.Messages, o.Bytes = 200, 350_000
	case "medium":
		o.Messages, o.Bytes = 20_000, 59_000_000
	case "large":
		o.Messages, o.Bytes = 350_000, 1_040_000_000
	case "images":
		o.Messages, o.Pictures = 300, 0.3
	default:
		return Options{}, false
	}
	return o, true
}

// ArchiveOptions describe the archive to write.
type ArchiveOptions struct {
	Chats    int   // in all; the benchmarks' has 5,000
	Folders  int   // that they are spread over; the benchmarks' has 100
	Bytes    int64 // in all; the benchmarks' has 407,000,000
	Seed     uint64
	NonASCII float64
	Damage   float64
}

// ArchivePreset returns the options of the benchmarks' archive.
func ArchivePreset() ArchiveOptions {
	return ArchiveOptions{Chats: 5_000, Folders: 100, Bytes: 407_000_000, Seed: 1, NonASCII: 0.05}
}

// Archive writes a user folder with many chats of different sizes:
// dir/chats/<character>/<character> - <time>.jsonl. Chats have no links: each
// stands for itself. Files that are there already are overwritten. Stats are
// of all chats together.
func Archive(dir string, o ArchiveOptions) (Stats, error) {
	if o.Chats < 1 || o.Folders < 1 || o.Bytes < 1 {
		return Stats{}, fmt.Errorf("an archive of %d chats in %d folders with %d bytes is none", o.Chats, o.Folders, o.Bytes)
	}
	var all Stats
	seeds, left := random(o.Seed), o.Bytes
	for i := range o.Chats {
		character := fmt.Sprintf("Character %03d", i%o.Folders)
		folder := filepath.Join(dir, "chats", character)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return all, err
		}
		begin := time.Date(2025, time.June, 1, 12, 0, i%60, 0, time.UTC).AddDate(0, 0, i/o.Folders)
		room := left / int64(o.Chats-i)
		name := fmt.Sprintf("%s - %s000ms.jsonl", character, begin.Format("2006-01-02@15h04m05s"))
		stats, err := writeFile(filepath.Join(folder, name), Options{
			// From a fifth of the average to nine fifths: archives are uneven.
			Bytes: max(1, room/5+int64(seeds.share()*float64(room)*8/5)),
			Seed:  seeds.next(), NonASCII: o.NonASCII, Damage: o.Damage, Name: character, Begin: begin,
		})
		if err != nil {
			return all, err
		}
		left -= stats.Bytes
		all.add(stats)
	}
	return all, nil
}

func writeFile(path string, o Options) (stats Stats, err error) {
	f, err := os.Create(path)
	if err != nil {
		return stats, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return Write(f, o)
}

func (s *Stats) add(o Stats) {
	s.Bytes += o.Bytes
	s.Messages += o.Messages
	s.User += o.User
	s.System += o.System
	s.Swiped += o.Swiped
	s.Damaged.Torn += o.Damaged.Torn
	s.Damaged.NUL += o.Damaged.NUL
	s.Damaged.Blank += o.Damaged.Blank
	s.Damaged.CRLF += o.Damaged.CRLF
}
