//go:build unix

package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// answers are what somebody between svc and its server, or in its place, may say
// to a hook. Those that never end go on until the hook hangs up.
var answers = map[string]func(c net.Conn){
	"headers without end":       func(c net.Conn) { endless(c, okHead, strings.Repeat("X-More: of it\r\n", 500), 0) },
	"a header without end":      func(c net.Conn) { endless(c, okHead+"X-More: ", strings.Repeat("x", 8<<10), 0) },
	"a status without end":      func(c net.Conn) { endless(c, "HTTP/1.1 200 ", strings.Repeat("x", 8<<10), 0) },
	"a body without end":        func(c net.Conn) { endless(c, okHead+"\r\n{\"reason\":\"", strings.Repeat("x", 8<<10), 0) },
	"pieces without end":        func(c net.Conn) { endless(c, okHead+"Transfer-Encoding: chunked\r\n\r\n", "4\r\n    \r\n", 0) },
	"a piece of endless length": func(c net.Conn) { endless(c, okHead+"Transfer-Encoding: chunked\r\n\r\n", "0", 0) },
	"an error without end":      func(c net.Conn) { endless(c, "HTTP/1.1 503 Busy\r\n\r\n", strings.Repeat("x", 8<<10), 0) },
	"hints without end":         func(c net.Conn) { endless(c, "", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 0) },
	"a header byte by byte":     func(c net.Conn) { endless(c, okHead, "x", 20*time.Millisecond) },
	"a body byte by byte":       func(c net.Conn) { endless(c, okHead+"\r\n", " ", 20*time.Millisecond) },
	"deep JSON":                 func(c net.Conn) { endless(c, okHead+"\r\n{\"decision\":", strings.Repeat("[", 8<<10), 0) },
	"less than promised":        func(c net.Conn) { say(c, okHead+"Content-Length: 1099511627776\r\n\r\n{\"decision\":\"allow\"}") },
	"half of one":               func(c net.Conn) { say(c, okHead+"\r\n{\"decision\":\"al") },
	"none":                      func(net.Conn) {},
	"silence":                   func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	"noise":                     func(c net.Conn) { say(c, strings.Repeat("\x00\xff\x16\x03", 4<<10)) },
	"no content":                func(c net.Conn) { say(c, "HTTP/1.1 204 No Content\r\n\r\n") },
	"another protocol":          func(c net.Conn) { say(c, "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n") },
	"the way round in a circle": func(c net.Conn) {
		say(c, "HTTP/1.1 307 Here\r\nLocation: /v1/hooks/evaluate\r\nContent-Length: 0\r\n\r\n")
	},
}

func say(c net.Conn, text string) { _, _ = io.WriteString(c, text) }

// endless says one thing, and then another for as long as somebody listens.
func endless(c net.Conn, first, then string, every time.Duration) {
	for text := first; ; text = then {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		time.Sleep(every)
	}
}

// Whatever a server answers, a hook ends in little memory, and the agent is told
// that nobody looked at its edit.
func TestHostileAnswers(t *testing.T) {
	l := newLaptop(t)
	l.run("", "git", "remote", "add", "origin", "https://github.com/acme/shop")
	var heard atomic.Int32 // answers: on a busy machine a hook may give up before it has asked
	for what, answer := range answers {
		t.Run(what, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				for {
					c, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						defer c.Close()
						if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
							_, _ = io.Copy(io.Discard, r.Body)
							heard.Add(1)
							answer(c)
						}
					}()
				}
			}()
			here := *l
			here.t = t
			out := here.bounded(what, "PreToolUse", "a.txt", "SVC_PATIENCE=2", "SVC_EDGE=off", "SVC_SERVER=http://"+listener.Addr().String(),
				"SVC_TOKEN=svc_"+strings.Repeat("A", 43), "TMPDIR="+t.TempDir())
			if !strings.Contains(out, "svc could not check this edit") {
				t.Errorf("an edit that nobody looked at passes in silence: %q", out)
			}
		})
	}
	if n := int(heard.Load()); n < len(answers)/2 {
		t.Errorf("of %d hooks %d asked", len(answers), n)
	}
}
