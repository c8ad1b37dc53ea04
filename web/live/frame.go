package live

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/gorilla/websocket"

	"postroom/domain/session"
)

// frame is one message, prepared once for everyone who gets it.
type frame struct {
	seq  int64 // in a log; 0 for state
	size int   // bytes that it holds, about
	html lazy
	json lazy
}

// lazy is a prepared message that is made when the first socket wants it.
type lazy struct {
	once    sync.Once
	make    func() any
	message *websocket.PreparedMessage
	err     error
}

func (l *lazy) prepared() (*websocket.PreparedMessage, error) {
	l.once.Do(func() {
		if l.make == nil {
			return
		}
		raw, err := json.Marshal(l.make())
		if err != nil {
			l.err = fmt.Errorf("frame: %w", err)
			return
		}
		l.message, l.err = websocket.NewPreparedMessage(websocket.TextMessage, raw)
		l.make = nil // what it held is in the message now
	})
	return l.message, l.err
}

// What browsers get.
type (
	helloFrame struct {
		Type  string `json:"type"`
		Epoch string `json:"epoch"`
	}
	lineFrame struct {
		Type  string `json:"type"`
		Topic string `json:"topic"`
		Seq   int64  `json:"seq"`
		ID    string `json:"id,omitempty"`
		HTML  string `json:"html,omitempty"`
	}
	partFrame struct {
		Type  string `json:"type"`
		Topic string `json:"topic"`
		ID    string `json:"id"`
		HTML  string `json:"html"`
	}
	// What programs get.
	itemFrame struct {
		Type      string       `json:"type"`
		SessionID string       `json:"sessionId"`
		Item      session.Item `json:"item"`
	}
	stateFrame struct {
		Type  string `json:"type"`
		Topic string `json:"topic"`
		State any    `json:"state"`
	}
)

func logFrame(id string, item session.Item, part Part, shown bool) *frame {
	f := &frame{seq: item.Seq, size: len(part.HTML) + len(item.Data)}
	f.json.make = func() any { return itemFrame{"item", id, item} }
	f.html.make = func() any {
		if !shown {
			return lineFrame{Type: "cursor", Topic: "mailbox=" + id, Seq: item.Seq}
		}
		return lineFrame{"line", "mailbox=" + id, item.Seq, part.ID, part.HTML}
	}
	return f
}

func stateFrameOf(topic string, p Part) *frame {
	kind := "state"
	if p.Add {
		kind = "append"
	}
	f := &frame{}
	f.html.make = func() any { return partFrame{kind, topic, p.ID, p.HTML} }
	return f
}
