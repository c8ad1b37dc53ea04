package seat

import "postroom/domain/mailbox"

// Record is one WORKER.md: an id from the folders (team.worker, or the bare name
// of an organization's worker), the frontmatter as written and the body below it.
type Record struct {
	ID       string
	Declared map[string]any
	Body     string
	// TeamText is the body of the team's TEAM.md, which comes before the worker's own.
	TeamText  string
	Documents []Document // in the worker's reach
	Skills    []Skill    // in the worker's reach, one a name
	Source    *mailbox.Source
}

// Document is one document in the tree, as a seat may reach it.
type Document struct {
	Name     string // the file's name without .md
	Ref      string // how it is named from anywhere: name, teams/<t>/name, …
	Folder   string // "references" or "resources"
	Text     string // without its frontmatter
	Readable bool   // llmReadable: a model may read it
	Path     string // of the file, relative to the tree's root
}

// Skill is one SKILL.md: instructions that a seat takes up when they are needed.
type Skill struct {
	Name        string // the folder's
	Description string // by which a model, or the classifier, picks it
	Text        string
	Path        string // of the file, relative to the tree's root
}
