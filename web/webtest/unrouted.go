package webtest

import (
	"io/fs"
	"testing/fstest"

	"postroom/workforce"
)

// UnroutedDemo is the demo with a help that is not routed: a post there wakes both of
// its members.
func UnroutedDemo() fs.FS {
	tree := fstest.MapFS{}
	err := fs.WalkDir(workforce.Demo(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(workforce.Demo(), path)
		tree[path] = &fstest.MapFile{Data: raw, Mode: 0o600}
		return err
	})
	if err != nil {
		panic(err) // the demo is a part of the program
	}
	tree["teams/support/mailboxes/help/MAILBOX.md"] = &fstest.MapFile{Mode: 0o600, Data: []byte(
		"---\ndescription: Ask the support team anything.\nmembers: [support.devices, support.accounts]\nboards: [escalations]\n---\n\nAnswer what the person asked.\n")}
	return tree
}
