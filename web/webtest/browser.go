package webtest

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
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

// Page is one window.
type Page struct {
	t      testing.TB
	ctx    context.Context //nolint:containedctx // chromedp's way of naming a window.
	server *Server
}

// Page opens a window with cookies of its own, in which somebody has said a name.
func (b *Browser) Page(s *Server, name string) *Page {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	b.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		b.t.Fatalf("open a window: %v", err)
	}
	p := &Page{t: b.t, ctx: ctx, server: s}
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
		_, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: p.server.URL})
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
	p.Do(chromedp.Navigate(p.server.URL + path))
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
	_, err := Value(p, chromedp.Poll[chromedp.Void](script, chromedp.WithPollingInterval(30*time.Millisecond), chromedp.WithPollingTimeout(15*time.Second)))
	if err != nil {
		text, _ := Value(p, chromedp.Evaluate[string]("document.body.innerText")) // for the message only
		p.t.Fatalf("it never came to this: %s: %v\n%s", what, err, text)
	}
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
