package store

import (
	"context"

	"postroom/domain/mailbox"
)

const answerInsert = "INSERT INTO answers (organization, mailbox, post, line) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"

var _ mailbox.Answers = (*transaction)(nil)

// Answer implements mailbox.Answers.
func (t *transaction) Answer(ctx context.Context, organization, mailboxID, post, line string) (bool, error) {
	n, err := t.exec(ctx, answerInsert, organization, mailboxID, post, line)
	return n == 1, coded("keep the answer to "+post, err)
}
