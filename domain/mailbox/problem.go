package mailbox

import (
	"fmt"
	"strings"
)

// The codes of what binding refuses, one for each rule.
const (
	CodeDuplicateID       = "duplicate-mailbox"
	CodeSystem            = "system-declared"
	CodeID                = "id-declared"
	CodeUnknownKey        = "unknown-key"
	CodeTwoCharters       = "body-beside-instructions"
	CodeMembers           = "invalid-members"
	CodeEmptyMember       = "empty-member"
	CodeDuplicateMember   = "duplicate-member"
	CodeDescription       = "invalid-description"
	CodeInstructions      = "invalid-instructions"
	CodeBoards            = "invalid-boards"
	CodeBoardName         = "invalid-board-name"
	CodeDuplicateBoard    = "duplicate-board"
	CodeBoardActions      = "invalid-board-actions"
	CodeBoardsOnOwnKind   = "boards-on-own-kind"
	CodeActionCollision   = "board-action-collision"
	CodeRouting           = "invalid-routing"
	CodeRoutingKey        = "unknown-routing-key"
	CodeFallback          = "invalid-fallback"
	CodeNoRoute           = "kind-without-route"
	CodeFallbackNoMember  = "fallback-not-a-member"
	CodeFallbackDeaf      = "fallback-cannot-hear"
	CodeFlow              = "invalid-flow"
	CodeUnknownFlow       = "unknown-flow"
	CodeKindName          = "kind-name-mismatch"
	CodePreRenameKind     = "pre-rename-kind"
	CodeMintFor           = "invalid-mint-for"
	CodeTemplateKey       = "template-key"
	CodeTemplateSeat      = "invalid-template-seat"
	CodeTemplateDuplicate = "duplicate-template-seat"
	CodeCollection        = "unknown-collection"
	CodeCollectionKind    = "unsupported-collection"
	CodeTemplateTwice     = "duplicate-template"
	CodeTemplateDeaf      = "template-cannot-wake"
)

// Problem is one thing that binding refuses.
type Problem struct {
	MailboxID string
	Key       string // of the frontmatter, or empty
	Code      string
	Reason    string // what is wrong and what to do
	Path      string // of the file, when the record has a source
	Line      int
}

// BindError lists every problem of every record. Nothing was registered.
type BindError struct {
	Problems []Problem
	Records  int
}

// Error says how many of how many were refused, then one line a problem, each
// starting with its mailbox.
func (e *BindError) Error() string {
	refused := map[string]bool{}
	for _, p := range e.Problems {
		refused[p.MailboxID] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d mailboxes were refused:", len(refused), e.Records)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n%s: %s: %s", p.MailboxID, p.Code, p.Reason)
	}
	return b.String()
}
