// Package all lists the extensions that are understood. To add one, write its folder and list it
// here.
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
	return []extension.Extension{&core.Extension{}, &autorecap.Extension{}, &illustrator.Extension{}, &memorybook.Extension{}, &luker.Extension{}}
}

// Names returns the table of all keys that hold names.
func Names() extension.NameKeys { return extension.NamesOf(New()) }
