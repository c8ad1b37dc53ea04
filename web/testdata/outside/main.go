// A program outside the tree: it mounts Postroom in an Echo application of its own,
// with kinds, a notifier and a tool of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing/fstest"

	"github.com/labstack/echo/v4"

	"postroom/domain/agent"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/session"
	"postroom/web"
	"postroom/web/config"
)

// Note is a line of the program's own kind of mailbox.
type Note struct {
	ID   string `json:"id"`
	Mood string `json:"mood"`
	Body string `json:"body"`
}

// diary is a kind of mailbox of one's own: it keeps lines of its own form.
func diary() (session.Kind, error) {
	return session.NewKind(session.KindOptions{Name: "diary", Public: map[string]session.Action{
		"post": {Atomic: true, Repeatable: true, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var n Note
			if err := json.Unmarshal(input, &n); err != nil {
				return nil, err
			}
			n.ID = t.Request().ID
			return n, mailbox.EmitPostLine(t, n)
		}},
		"read": {Lane: session.ReadLane, Run: func(t *session.Turn, _ json.RawMessage) (any, error) {
			return mailbox.ReadPostLines[Note](t)
		}},
	}})
}

// clerk is a kind of seat of one's own: an internal onMailboxPost makes it hear.
func clerk() (session.Kind, error) {
	return session.NewKind(session.KindOptions{Name: "clerk", Internal: map[string]session.Action{
		"onMailboxPost": {Repeatable: true, Agent: true, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var d mailbox.Delivery
			if err := json.Unmarshal(input, &d); err != nil {
				return nil, err
			}
			return session.Dispatch(t, session.Target{
				Kind: mailbox.BuiltinKind, Session: d.MailboxID, Action: mailbox.ActionSeatPost, Key: t.Request().ID,
			}, mailbox.SeatPost{Body: "filed: " + d.Body, Author: d.Member})
		}},
	}})
}

// intake is a flow of one's own that dispatches into a mailbox: its address is its id.
func intake() (session.Kind, error) {
	return session.NewKind(session.KindOptions{Name: "intake", Public: map[string]session.Action{
		"submit": {Atomic: true, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var in struct{ Body, To string }
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, err
			}
			return session.Dispatch(t, session.Target{Kind: mailbox.BuiltinKind, Session: in.To, Action: "post"}, map[string]string{"body": in.Body})
		}},
	}})
}

// talker is a model of one's own: it calls the tool once and then says so.
type talker struct{}

func (talker) Respond(_ context.Context, r model.Request, _ func(string)) (model.Response, error) {
	last := r.Messages[len(r.Messages)-1].Content
	if last[0].Type == model.ToolResultBlock {
		return model.Response{Content: []model.Block{model.Text("the bell said " + last[0].Content)}, StopReason: model.EndTurn}, nil
	}
	return model.Response{Content: []model.Block{model.Called("call_1", "ring-bell", nil)}, StopReason: model.ToolUse}, nil
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	kinds := map[string]session.Kind{}
	for _, make := range []func() (session.Kind, error){diary, clerk, intake} {
		k, err := make()
		if err != nil {
			return err
		}
		kinds[k.Name()] = k
	}
	bell, err := agent.NewTool("ring-bell", "Rings.", func(context.Context, struct{}) (agent.ToolResult, error) {
		return agent.ToolResult{Text: "ding"}, nil
	})
	if err != nil {
		return err
	}
	var paged atomic.Int32
	server, err := web.New(web.Options{
		Config: config.Config{Database: os.Args[1]},
		Workforce: fstest.MapFS{
			"teams/shop/mailboxes/notes/MAILBOX.md":   file("---\ndescription: A diary.\nflow: diary\n---\n"),
			"teams/shop/mailboxes/counter/MAILBOX.md": file("---\ndescription: The counter.\nmembers: [shop.clerk, shop.owner]\n---\n"),
			"teams/shop/workers/clerk/WORKER.md":      file("---\ndescription: Files.\nflow: clerk\n---\n"),
			"teams/shop/workers/ringer/WORKER.md":     file("---\ndescription: Rings.\ntools: [ring-bell]\n---\n"),
		},
		Kinds: kinds,
		Tools: []agent.Tool{bell},
		Model: talker{},
		// Nobody is hired for shop.owner: a person, who is paged.
		Fallback: mailbox.NotifierFunc(func(_ context.Context, d mailbox.Delivery) error {
			if !d.SeatAuthored {
				paged.Add(1)
			}
			return nil
		}),
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := echo.New()
	app.HideBanner, app.HidePort = true, true
	app.GET("/paged", func(c echo.Context) error { return c.String(http.StatusOK, fmt.Sprint(paged.Load())) })
	app.Any("/*", echo.WrapHandler(server.Handler()))
	if app.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	fmt.Println("http://" + app.Listener.Addr().String())
	go func() {
		<-ctx.Done()
		_ = app.Shutdown(context.Background())
	}()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	if err := app.Start(""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}
