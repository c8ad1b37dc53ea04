package webtest

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Browser is one headless browser; each Page of it is a window with cookies of its own.
type Browser struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // chromedp's way of naming a browser.
}

// Open starts a browser; it is closed with the test.
func Open(t testing.TB) *Browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("no Chromium is installed; `make browser` installs one")
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // it may have ended by itself
		cancel()
		stop()
	})
	return &Browser{t: t, ctx: ctx}
}

// For is the browser as a part of the test uses it: failures and windows are its own.
func (b *Browser) For(t testing.TB) *Browser { //nolint:thelper // it only hands t on.
	return &Browser{t: t, ctx: b.ctx}
}

// Page is one window.
type Page struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // chromedp's way of naming a window.
	url string
}

// Page opens a window with cookies of its own, in which somebody has said a name.
func (b *Browser) Page(s *Server, name string) *Page {
	b.t.Helper()
	return b.PageAt(s.URL, name)
}

// PageAt is Page by a server's address, such as a proxy's.
func (b *Browser) PageAt(address, name string) *Page {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	b.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		b.t.Fatalf("open a window: %v", err)
	}
	p := &Page{t: b.t, ctx: ctx, url: address}
	p.Do(chromedp.EmulateViewport(1280, 860))
	if name != "" {
		p.Cookie("postroom-name", url.QueryEscape(name))
	}
	return p
}

// Cookie sets a cookie of the server.
func (p *Page) Cookie(name, value string) {
	p.t.Helper()
	p.Do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: p.url})
		return chromedp.Void{}, err
	})
}

// Do runs actions within a deadline.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := p.Try(actions...); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// Try is Do with the error handed back.
func (p *Page) Try(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// Go opens a path of the server.
func (p *Page) Go(path string) {
	p.t.Helper()
	err := p.Try(chromedp.Navigate(p.url + path))
	for range 3 {
		if err == nil || !strings.Contains(err.Error(), "ERR_ABORTED") {
			break
		}
		// A page that was still on its way, such as a form's, came in between.
		err = p.Try(chromedp.Navigate(p.url + path))
	}
	if err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// Value runs an action within a deadline and gives what it found.
func Value[T any](p *Page, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// Eval runs a script and gives its value.
func Eval[T any](p *Page, script string) T {
	p.t.Helper()
	value, err := Value(p, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("evaluate %s: %v", script, err)
	}
	return value
}

// Until waits until a script is true.
func (p *Page) Until(what, script string) {
	p.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	var last error
	for time.Now().Before(deadline) {
		// A page that is being left cannot answer; the next one can.
		holds, err := Value(p, chromedp.Evaluate[bool]("!!("+script+")"))
		if err == nil && holds {
			return
		}
		last = err
		<-tick.C
	}
	text, _ := Value(p, chromedp.Evaluate[string]("document.body.innerText")) // for the message only
	p.t.Fatalf("it never came to this: %s (%v)\n%s", what, last, text)
}

// Size makes the window so large; a phone also has touch.
func (p *Page) Size(width, height int64, phone bool) {
	p.t.Helper()
	if !phone {
		p.Do(chromedp.EmulateViewport(width, height))
		return
	}
	p.Do(chromedp.EmulateViewport(width, height, chromedp.EmulateMobile, chromedp.EmulateTouch))
}

// Zone sets the reader's time zone.
func (p *Page) Zone(name string) {
	p.t.Helper()
	p.Do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return chromedp.Void{}, err
	})
}

// Press presses one key where the focus is, as a keyboard does: what a page
// prevents on the way down leaves no character behind.
func (p *Page) Press(key string) {
	p.t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key, UnmodifiedText: key}
	if key == "Enter" {
		down.Code, down.WindowsVirtualKeyCode, down.Text, down.UnmodifiedText = "Enter", 13, "\r", "\r"
	}
	up := down
	up.Type, up.Text, up.UnmodifiedText = input.DispatchKeyEventTypeKeyUp, "", ""
	for _, event := range []input.DispatchKeyEventParams{down, up} {
		p.Do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, event)
			return chromedp.Void{}, err
		})
	}
}

// Script turns the page's scripts off, or on again.
func (p *Page) Script(on bool) {
	p.t.Helper()
	p.Do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return chromedp.Void{}, err
	})
}

// Live waits until the page's websocket has said hello.
func (p *Page) Live() {
	p.t.Helper()
	p.Until("the page is live", `document.getElementById("live")?.dataset.state === "on"`)
}

// Line waits for a line with these words.
func (p *Page) Line(words string) {
	p.t.Helper()
	p.Until("a line "+words, fmt.Sprintf(`[...document.querySelectorAll("#transcript [data-at]")].some((l) => l.innerText.includes(%q))`, words))
}
