package workforce

import (
	"embed"
	"io/fs"
)

//go:embed all:teams all:org
var demo embed.FS

// Demo is the tree that ships with the product: a small company that sells card
// readers and till tablets to small shops.
func Demo() fs.FS { return demo }
