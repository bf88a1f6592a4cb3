// Package all lists the extensions that are understood. To add one, write its folder and list it
// here; or, if rows say all that is known of it, add them to the list in rows.go.
package all

import (
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
	for _, plain := range extension.Plains(rows()) {
		list = append(list, plain)
	}
	return list
}

// Table returns the rows of all extensions.
func Table() extension.Table { return extension.TableOf(New()) }
