package treeview

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium, spoken to through pipes in its DevTools protocol.
type browser struct {
	t       *testing.T
	in      *os.File
	mu      sync.Mutex
	next    int
	waiting map[int]chan json.RawMessage
	events  []event
	session string
}

type event struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// chromium starts a browser, or skips the test where there is none.
func chromium(t *testing.T) *browser {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the browser is spoken to through pipes that Windows does not hand on: the page was not opened")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("Chromium is not installed: the page was not opened")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4 there
	if err := cmd.Start(); err != nil {
		t.Skipf("Chromium does not start: %v", err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	b := &browser{t: t, in: in, waiting: map[int]chan json.RawMessage{}}
	go b.listen(out)
	t.Cleanup(func() {
		b.command("", "Browser.close", nil)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
		_ = in.Close()
	})
	return b
}

func (b *browser) listen(out *os.File) {
	r := bufio.NewReader(out)
	for {
		raw, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
			event
		}
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; m.ID > 0 && c != nil {
			if m.Error != nil {
				m.Result = m.Error
			}
			c <- m.Result
		} else if m.Method != "" {
			b.events = append(b.events, m.event)
		}
		b.mu.Unlock()
	}
}

// command sends one command and waits for its result.
func (b *browser) command(session, method string, params any) json.RawMessage {
	b.mu.Lock()
	b.next++
	id, done := b.next, make(chan json.RawMessage, 1)
	b.waiting[id] = done
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	raw, err := json.Marshal(message)
	if err == nil {
		_, err = b.in.Write(append(raw, 0))
	}
	if err != nil {
		return nil
	}
	select {
	case result := <-done:
		return result
	case <-time.After(60 * time.Second):
		b.t.Errorf("%s: no answer", method)
		return nil
	}
}

func (b *browser) do(method string, params any) json.RawMessage {
	return b.command(b.session, method, params)
}

type object = map[string]any

// page opens a page of its own, at the address that may follow its path; scripting off leaves it without JavaScript.
func (b *browser) page(path string, scripting bool) {
	b.t.Helper()
	var made struct{ TargetID, SessionID string }
	decode(b.t, b.command("", "Target.createTarget", object{"url": "about:blank"}), &made)
	decode(b.t, b.command("", "Target.attachToTarget", object{"targetId": made.TargetID, "flatten": true}), &made)
	b.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.do(domain+".enable", nil)
	}
	b.do("Emulation.setDeviceMetricsOverride", object{"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": false})
	b.do("Emulation.setScriptExecutionDisabled", object{"value": !scripting})
	b.mu.Lock()
	b.events = nil
	b.mu.Unlock()
	path, fragment, _ := strings.Cut(path, "#")
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if fragment != "" {
		fragment = "#" + fragment
	}
	b.do("Page.navigate", object{"url": u.String() + fragment})
	b.until("the page is loaded", func() bool { return b.count("Page.loadEventFired") > 0 })
}

func decode(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func (b *browser) count(method string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.Method == method {
			n++
		}
	}
	return n
}

func (b *browser) until(what string, holds func() bool) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("it never came about that %s", what)
		}
	}
}

// eval returns what an expression comes to.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	decode(b.t, b.do("Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}), &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, r.ExceptionDetails)
	}
	return r.Result.Value
}

// is fails unless an expression comes to what is wanted, soon.
func (b *browser) is(expression string, want any) {
	b.t.Helper()
	var got any
	for range 1000 {
		if got = b.eval(expression); fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Errorf("%s is %v, want %v", expression, got, want)
}

// key presses a key.
func (b *browser) key(key string) {
	text := ""
	if len(key) == 1 {
		text = key
	}
	if key == "Enter" {
		text = "\r"
	}
	code := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.do("Input.dispatchKeyEvent", object{"type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code})
		text = ""
	}
}

// mouse sends a mouse event.
func (b *browser) mouse(kind string, x, y float64) {
	b.do("Input.dispatchMouseEvent", object{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})
}

// Keys that are held.
const (
	ctrl  = 2
	shift = 8
)

// wheel turns the wheel above the middle of the page.
func (b *browser) wheel(by, held int) {
	b.do("Input.dispatchMouseEvent", object{"type": "mouseWheel", "x": 700, "y": 400, "deltaX": 0, "deltaY": by, "modifiers": held})
}

// quiet fails where the page said something, broke its policy, or asked for
// anything but itself.
func (b *browser) quiet(what string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	requests := 0
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening":
			b.t.Errorf("%s: %s %s", what, e.Method, e.Params)
		case "Network.requestWillBeSent":
			if requests++; requests > 1 {
				b.t.Errorf("%s: it asks for something: %s", what, e.Params)
			}
		}
	}
}

func (b *browser) said(method string) (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.Method == method {
			list = append(list, string(e.Params))
		}
	}
	return list
}
