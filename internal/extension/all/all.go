// Package all lists the extensions that are understood. To add one, write its folder and list it
// here; or, if rows say all that is known of it, add them to the list in rows.go.
package all

import (
	"slices"
	"sync"

	"stchat/internal/extension"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/core"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/luker"
	"stchat/internal/extension/memorybook"
)

// New returns the extensions, for one pass over one chat.
func New() []extension.Extension {
	list := []extension.Extension{&core.Extension{}, &autorecap.Extension{}, &illustrator.Extension{}, &memorybook.Extension{}, &luker.Extension{}}
	for _, plain := range plains() {
		list = append(list, plain)
	}
	return list
}

// plains are the extensions of which only rows are known. They keep nothing of a pass, so all share them.
var plains = sync.OnceValue(func() []*extension.Plain { return extension.Plains(rows()) })

// Table returns the rows of all extensions, which nobody may change.
func Table() extension.Table { return table() }

// table is made when it is first asked for: it is, of each chat.
var table = sync.OnceValue(func() extension.Table { return slices.Clip(extension.TableOf(New())) })
