package isolate

import (
	"fmt"
	"slices"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/rawjson"
)

// Rename follows a lorebook to its new name in the metadata of a chat that names it: in all
// keys that hold the name, and in what extensions keep about its entries. r.Plain nil means r.To.
func Rename(r *extension.Renaming) { renameFor(all.New(), r) }

func renameFor(list []extension.Extension, r *extension.Renaming) {
	extension.NamesOf(list).Replace(r.Metadata, extension.Metadata, extension.Book, r.From.Name, r.To.Name)
	follow(list, r)
}

// Rebind points metadata at a lorebook's clone as [Rename] does, but leaves names of the past.
// Metadata that does not name the book gets the clone as the chat's own.
func Rebind(r *extension.Renaming) {
	list, md := all.New(), r.Metadata
	table := extension.NamesOf(list)
	world, _ := lorebook.NameIn(md)
	named := slices.Contains(table.Books(md), r.From.Name)
	r.Own = world == r.From.Name || !named || autorecap.BookName(md) == r.From.Name
	if world == r.From.Name || !named {
		md.Set("world_info", rawjson.Quote(r.To.Name))
	}
	table.Rename(md, extension.Metadata, extension.Book, func(k extension.NameKey, name string) string {
		if k.Past || name != r.From.Name {
			return name
		}
		r.Changes = append(r.Changes, extension.Change{Extension: k.Extension, Change: fmt.Sprintf("%s set to %q", strings.Join(k.Path[1:], "/"), r.To.Name)})
		return r.To.Name
	})
	follow(list, r)
}

// follow lets the extensions follow; core's effects come last in the report.
func follow(list []extension.Extension, r *extension.Renaming) {
	if r.Plain == nil {
		r.Plain = r.To
	}
	for _, e := range slices.Backward(list) {
		e.Rename(r)
	}
}
