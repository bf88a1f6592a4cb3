// Genchat writes a generated SillyTavern chat, or a folder full of them, for
// benchmarks and experiments:
//
//	go run ./scripts/genchat -preset large -o large.jsonl
//	go run ./scripts/genchat -preset archive -o archive
//	go run ./scripts/genchat -hard slugs -messages 8000 -o slugs
//	go run ./scripts/genchat -greetings -messages 300 -o greetings
//	go run ./scripts/genchat -swipevalues -messages 300 -o swipevalues
//	go run ./scripts/genchat -messages 500 -damage 0.02 -seed 7 > hurt.jsonl
//	go run ./scripts/genchat -messages 500 -layout pretty -encoding utf-16le-bom > foreign.jsonl
//
// The same flags always produce the same bytes. What was written is summed up on
// stderr, as one JSON object, so that a reader's counts can be compared.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"stchat/scripts/internal/chatgen"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "genchat:", err)
		os.Exit(2)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("genchat", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var (
		hard     = flags.String("hard", "", "make a user folder that is hard to read, `NAME`: "+strings.Join(chatgen.HardCases(), ", ")+"; -messages says how much of it there is, -o where")
		greets   = flags.Bool("greetings", false, "make a user folder of chats that begin with a card's greeting and its macros, as SillyTavern's page writes them; -messages says how many chats, -o where")
		values   = flags.Bool("swipevalues", false, "make a user folder of chats in which extensions keep a value for each swipe, as MVU and ST-Prompt-Template do; -messages says how many chats, -o where")
		preset   = flags.String("preset", "", "start from `NAME`: small (350 KB), medium (59 MB), large (1.04 GB), images (1.13 GB of long lines), archive (5,000 chats, 407 MB)")
		out      = flags.String("o", "-", "`PATH` to write; - is stdout; with -preset archive the user folder to make")
		messages = flags.Int("messages", 0, "how many messages (archive: how many chats)")
		size     = flags.Int64("bytes", 0, "how many bytes, about")
		seed     = flags.Uint64("seed", 1, "another chat of the same kind")
		damage   = flags.Float64("damage", 0, "`SHARE` of lines, 0 to 1, that are torn, lost to NULs, set off by a blank line, or ended by CR LF")
		nonASCII = flags.Float64("nonascii", 0.05, "`SHARE` of sentences, 0 to 1, with letters beyond ASCII")
		layout   = flags.String("layout", "", "how the objects stand in the file, `NAME`: "+strings.Join(chatgen.Layouts(), ", "))
		encoding = flags.String("encoding", "", "how the characters are stored, `NAME`: "+strings.Join(chatgen.Encodings(), ", "))
		pictures = flags.Float64("pictures", 0, "`SHARE` of messages, 0 to 1, with an inlined picture of 5 to 20 MB")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; see -help", flags.Arg(0))
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })

	if *hard != "" {
		if *out == "-" || *messages < 1 {
			return errors.New("-hard needs -o, the folder to make, and -messages")
		}
		return chatgen.Hard(*out, *hard, *messages)
	}
	if *greets {
		if *out == "-" || *messages < 1 {
			return errors.New("-greetings needs -o, the folder to make, and -messages, the number of chats")
		}
		return chatgen.Greetings(*out, *messages, *seed)
	}
	if *values {
		if *out == "-" || *messages < 1 {
			return errors.New("-swipevalues needs -o, the folder to make, and -messages, the number of chats")
		}
		return chatgen.SwipeValues(*out, *messages, *seed)
	}
	if *preset == "archive" {
		if *out == "-" {
			return errors.New("-preset archive needs -o, the folder to make")
		}
		for _, name := range []string{"pictures", "layout", "encoding"} {
			if given[name] {
				return fmt.Errorf("an archive has no -%s", name)
			}
		}
		o := chatgen.ArchivePreset()
		o.Seed = *seed
		o.Damage = *damage
		o.NonASCII = *nonASCII
		if given["messages"] {
			o.Bytes = o.Bytes / int64(o.Chats) * int64(*messages)
			o.Chats = *messages
		}
		if given["bytes"] {
			o.Bytes = *size
		}
		stats, err := chatgen.Archive(*out, o)
		if err != nil {
			return err
		}
		return json.NewEncoder(stderr).Encode(stats)
	}

	o := chatgen.Options{Links: true}
	if *preset != "" {
		var ok bool
		if o, ok = chatgen.Preset(*preset); !ok {
			return fmt.Errorf("there is no preset %q; there are small, medium, large, images and archive", *preset)
		}
	}
	o.Seed = *seed
	o.Damage = *damage
	o.NonASCII = *nonASCII
	o.Layout = *layout
	o.Encoding = *encoding
	if given["messages"] {
		o.Messages = *messages
		o.Bytes = 0
	}
	if given["bytes"] {
		o.Bytes = *size
		if !given["messages"] {
			o.Messages = 0
		}
	}
	if given["pictures"] {
		o.Pictures = *pictures
	}
	stats, err := writeTo(*out, stdout, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(stderr).Encode(stats)
}

func writeTo(path string, stdout io.Writer, o chatgen.Options) (stats chatgen.Stats, err error) {
	if path == "-" {
		return chatgen.Write(stdout, o)
	}
	f, err := os.Create(path)
	if err != nil {
		return stats, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return chatgen.Write(f, o)
}
