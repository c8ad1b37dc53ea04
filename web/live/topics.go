package live

import (
	"net/url"
	"strconv"

	"postroom/domain/session"
)

// want is one topic that a socket asked for.
type want struct {
	topic Topic
	after int64 // in a log; -1: from now on
}

// mostTopics is how many topics one socket may watch.
const mostTopics = 8

// parse reads the topics of /live; bad says what is wrong with them.
func parse(q url.Values) (wants []want, asJSON bool, bad string) {
	switch q.Get("format") {
	case "", "html":
	case "json":
		asJSON = true
	default:
		return nil, false, "format is html or json"
	}
	for i, id := range q["mailbox"] {
		after := int64(-1)
		if cursors := q["after"]; i < len(cursors) && cursors[i] != "" {
			n, err := strconv.ParseInt(cursors[i], 10, 64)
			if err != nil || n < 0 {
				return nil, asJSON, "after is a seq, 0 or more"
			}
			after = n
		}
		wants = append(wants, want{Topic{"mailbox", id}, after})
	}
	for _, name := range []string{"runs", "run", "talk"} {
		for _, id := range q[name] {
			wants = append(wants, want{Topic{name, id}, 0})
		}
	}
	if q.Get("home") != "" {
		wants = append(wants, want{Topic{Name: "home"}, 0})
	}
	if q.Get("activity") != "" {
		wants = append(wants, want{Topic{Name: "activity"}, 0})
	}
	if len(wants) == 0 || len(wants) > mostTopics {
		return nil, asJSON, "name one to eight topics, such as mailbox=support.help"
	}
	for _, w := range wants {
		if w.topic.Name != "home" && w.topic.Name != "activity" && session.CheckID(w.topic.ID) != nil {
			return nil, asJSON, "a topic's id is no id"
		}
	}
	return wants, asJSON, ""
}
