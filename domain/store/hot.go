package store

import (
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

const constraint = sqlite3.SQLITE_CONSTRAINT

// hot are the statements of the path that every post takes, prepared at start.
var hot = []string{
	sessionByID, sessionInsert, sessionPosition, sessionSeq, sessionState,
	requestByID, requestByKey, requestInsert, requestNextTurn, requestClaim, requestSettle, requestHolds, requestPosition,
	itemInsert, deliveryInsert, deliverySet, deliveryOfPost,
}

func placeholders(text string) int { return strings.Count(text, "?") }
