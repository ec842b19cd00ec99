package outbound_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/outbound"
)

// names are what the tests' name server answers.
var names = map[string][]string{
	"loop.example.":      {"127.0.0.1"},
	"zero.example.":      {"0.0.0.0"},
	"ten.example.":       {"10.1.2.3"},
	"metadata.example.":  {"169.254.169.254"},
	"six.example.":       {"::1"},
	"mapped.example.":    {"::ffff:10.0.0.1"},
	"nat64.example.":     {"64:ff9b::7f00:1"},
	"ula.example.":       {"fd00::1"},
	"mixed.example.":     {"10.0.0.1", "127.0.0.1"},
	"multicast.example.": {"224.0.0.251"},
	"cgnat.example.":     {"100.64.3.4"},
}

// nameServer answers from names; rebind.example is public the first time and
// loopback ever after. Its count tells how often names were asked for.
func nameServer(t *testing.T) (*net.Resolver, *atomic.Int32) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	asked := new(atomic.Int32)
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(b)
			if err != nil {
				return
			}
			if m, ok := answer(b[:n], asked); ok {
				pc.WriteTo(m, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("udp", pc.LocalAddr().String())
	}}, asked
}

func answer(query []byte, asked *atomic.Int32) ([]byte, bool) {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil {
		return nil, false
	}
	q, err := p.Question()
	if err != nil {
		return nil, false
	}
	addrs := names[strings.ToLower(q.Name.String())]
	if q.Name.String() == "rebind.example." && q.Type == dnsmessage.TypeA {
		addrs = []string{"127.0.0.1"}
		if asked.Add(1) == 1 {
			addrs = []string{"93.184.215.14"}
		}
	}
	head := dnsmessage.Header{ID: h.ID, Response: true, Authoritative: true}
	if addrs == nil {
		head.RCode = dnsmessage.RCodeNameError
	}
	out := dnsmessage.NewBuilder(nil, head)
	out.StartQuestions()
	out.Question(q)
	out.StartAnswers()
	for _, text := range addrs {
		a := netip.MustParseAddr(text)
		rh := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			out.AResource(rh, dnsmessage.AResource{A: a.As4()})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			out.AAAAResource(rh, dnsmessage.AAAAResource{AAAA: a.As16()})
		}
	}
	m, err := out.Finish()
	return m, err == nil
}

// bad is every address and trick that must lead nowhere.
var bad = []struct{ name, url string }{
	{"loopback", "https://127.0.0.1/"},
	{"loopback elsewhere in its range", "https://127.8.8.8/"},
	{"loopback, short", "https://127.1/"},
	{"loopback, decimal", "https://2130706433/"},
	{"loopback, hexadecimal", "https://0x7f000001/"},
	{"loopback, octal", "https://0177.0.0.1/"},
	{"loopback, mixed bases", "https://0x7f.1/"},
	{"loopback, full-width digits", "https://１２７.0.0.1/"},
	{"loopback, circled digits", "https://①②⑦.⓪.⓪.①/"},
	{"loopback, ideographic dots", "https://127。0。0。1/"},
	{"this host", "https://0.0.0.0/"},
	{"this host, short", "https://0/"},
	{"localhost", "https://localhost/"},
	{"localhost with a dot and capitals", "https://LOCALHOST./"},
	{"a name below localhost", "https://api.localhost/"},
	{"a bare name", "https://intranet/"},
	{"a .local name", "https://printer.local/"},
	{"an .internal name", "https://db.internal/"},
	{"IPv6 loopback", "https://[::1]/"},
	{"IPv6 unspecified", "https://[::]/"},
	{"mapped loopback", "https://[::ffff:127.0.0.1]/"},
	{"mapped loopback in hexadecimal", "https://[::ffff:7f00:1]/"},
	{"mapped metadata", "https://[0:0:0:0:0:ffff:169.254.169.254]/"},
	{"compatible loopback", "https://[::127.0.0.1]/"},
	{"NAT64 loopback", "https://[64:ff9b::7f00:1]/"},
	{"NAT64 metadata", "https://[64:ff9b::a9fe:a9fe]/"},
	{"local NAT64", "https://[64:ff9b:1::1]/"},
	{"6to4 loopback", "https://[2002:7f00:1::]/"},
	{"Teredo", "https://[2001:0:7f00:1::]/"},
	{"IPv6 link-local", "https://[fe80::1]/"},
	{"IPv6 link-local with a zone", "https://[fe80::1%25eth0]/"},
	{"IPv6 unique local", "https://[fd12:3456::1]/"},
	{"IPv6 site-local", "https://[fec0::1]/"},
	{"IPv6 multicast", "https://[ff02::1]/"},
	{"IPv6 documentation", "https://[2001:db8::1]/"},
	{"AWS metadata", "https://169.254.169.254/latest/meta-data/"},
	{"AWS metadata over IPv6", "https://[fd00:ec2::254]/"},
	{"Google metadata", "https://metadata.google.internal/"},
	{"Alibaba metadata", "https://100.100.100.200/"},
	{"Azure's host", "https://168.63.129.16/"},
	{"private, class A", "https://10.0.0.1/"},
	{"private, class B", "https://172.16.5.4/"},
	{"private, class C", "https://192.168.1.1/"},
	{"carrier-grade NAT", "https://100.64.0.1/"},
	{"benchmarking", "https://198.18.0.1/"},
	{"protocol assignments", "https://192.0.0.8/"},
	{"test network", "https://203.0.113.9/"},
	{"multicast", "https://224.0.0.1/"},
	{"reserved", "https://240.0.0.1/"},
	{"broadcast", "https://255.255.255.255/"},
	{"a public address at the mail port", "https://1.1.1.1:25/"},
	{"a public address at redis' port", "https://1.1.1.1:6379/"},
	{"no TLS", "http://example.com/"},
	{"another scheme", "gopher://example.com/"},
	{"a file", "file:///etc/passwd"},
	{"no scheme", "//example.com/"},
	{"a user name that looks like a host", "https://example.com@127.0.0.1/"},
	{"a user name and password", "https://a:b@example.com/"},
	{"no host", "https:///x"},
	{"a name of loopback", "https://loop.example/"},
	{"a name of loopback, port 8443", "https://loop.example:8443/"},
	{"a name of this host", "https://zero.example/"},
	{"a name of a private address", "https://ten.example/"},
	{"a name of the metadata address", "https://metadata.example/"},
	{"a name of IPv6 loopback", "https://six.example/"},
	{"a name of a mapped address", "https://mapped.example/"},
	{"a name of a NAT64 address", "https://nat64.example/"},
	{"a name of a unique local address", "https://ula.example/"},
	{"a name of two private addresses", "https://mixed.example/"},
	{"a name of a multicast address", "https://multicast.example/"},
	{"a name of a carrier-grade NAT address", "https://cgnat.example/"},
	{"a name that rebinds after the check", "https://rebind.example/"},
}

func TestNothingLeadsInside(t *testing.T) {
	resolver, _ := nameServer(t)
	if first, err := resolver.LookupHost(t.Context(), "rebind.example"); err != nil || first[0] != "93.184.215.14" {
		t.Fatalf("the first look at the rebinding name saw %v, %v", first, err)
	}
	c := outbound.New(outbound.Policy{Resolver: resolver})
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
			defer cancel()
			_, err := c.Post(ctx, tt.url, http.Header{}, nil)
			if err == nil {
				t.Fatal("it was reached")
			}
			named := strings.Contains(tt.url, ".example/") || strings.Contains(tt.url, ".example:8443/")
			if named && !errors.Is(err, outbound.ErrRefused) {
				t.Errorf("refused by chance, not by the guard: %v", err)
			}
			if !named && c.CheckURL(tt.url) == nil {
				t.Error("its text already tells that it is bad, but it can be saved")
			}
		})
	}
}

func TestAnAllowedRangeOpensItselfAndNothingElse(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) }))
	t.Cleanup(srv.Close)
	allow, err := outbound.ParseAllow("127.0.0.0/8, 10.1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	resolver, _ := nameServer(t)
	c := outbound.New(outbound.Policy{Allow: allow, Resolver: resolver})
	if a, err := c.Post(t.Context(), srv.URL, http.Header{}, nil); err != nil || a.Status != 204 {
		t.Errorf("an allowed address answered %+v, %v", a, err)
	}
	port := srv.URL[strings.LastIndexByte(srv.URL, ':'):]
	if a, err := c.Post(t.Context(), "http://loop.example"+port, http.Header{}, nil); err != nil || a.Status != 204 {
		t.Errorf("a name of an allowed address answered %+v, %v", a, err)
	}
	everything, _ := outbound.ParseAllow("0.0.0.0/0,::/0")
	open := outbound.New(outbound.Policy{Allow: everything, Resolver: resolver})
	for _, never := range []string{
		"http://169.254.169.254/",
		"https://metadata.example/",
		"http://[fe80::1]/",
		"http://[fd00:ec2::254]/",
		"http://0.0.0.0" + port,
	} {
		if _, err := open.Post(t.Context(), never, http.Header{}, nil); !errors.Is(err, outbound.ErrRefused) {
			t.Errorf("%s = %v, want refused whatever the operator allows", never, err)
		}
	}
	for _, bad := range []string{"10.0.0.0/40", "ten", "10.0.0"} {
		if _, err := outbound.ParseAllow(bad); err == nil {
			t.Errorf("%q was taken as a range", bad)
		}
	}
}

func local(t *testing.T, h http.HandlerFunc) (*outbound.Client, string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	allow, _ := outbound.ParseAllow("127.0.0.1")
	return outbound.New(outbound.Policy{Allow: allow}), srv.URL
}

func TestARedirectIsAnAnswerAndNotFollowed(t *testing.T) {
	var inside atomic.Bool
	c, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/inside" {
			inside.Store(true)
		}
		http.Redirect(w, r, "/inside", http.StatusTemporaryRedirect)
	})
	a, err := c.Post(t.Context(), url, http.Header{}, []byte("x"))
	if err != nil || a.Status != 307 || inside.Load() {
		t.Errorf("answer %+v, %v; followed: %v", a, err, inside.Load())
	}
}

func TestALongAnswerIsCutAndALongHeaderRefused(t *testing.T) {
	c, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/header" {
			w.Header().Set("X-Long", strings.Repeat("x", 64<<10))
			return
		}
		for range 1000 {
			if _, err := w.Write([]byte(strings.Repeat("y", 10<<10))); err != nil {
				return
			}
		}
	})
	if a, err := c.Post(t.Context(), url, http.Header{}, nil); err != nil || len(a.Body) != 1024 {
		t.Errorf("kept %d bytes, %v; want 1024", len(a.Body), err)
	}
	if _, err := c.Post(t.Context(), url+"/header", http.Header{}, nil); err == nil {
		t.Error("a header of 64 KiB was taken")
	}
}

func TestErrorsDoNotGiveTheAddressAway(t *testing.T) {
	c, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.Close()
	})
	_, err := c.Post(t.Context(), url+"/services/T0/B0/secret", http.Header{}, nil)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

// Libraries that make their own requests are held to the same rules.
func TestTheTransportLeadsNowhereElse(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer srv.Close()
	closed := &http.Client{Transport: outbound.New(outbound.Policy{}).Transport()}
	for _, to := range []string{srv.URL, "https://127.0.0.1/", "https://169.254.169.254/latest", "https://localhost/", "ftp://example.com/"} {
		if resp, err := closed.Get(to); err == nil {
			resp.Body.Close()
			t.Errorf("%s was reached", to)
		}
	}
	allow, _ := outbound.ParseAllow("127.0.0.1")
	open := &http.Client{Transport: outbound.New(outbound.Policy{Allow: allow}).Transport()}
	resp, err := open.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, err := open.Get("http://169.254.169.254/latest"); err == nil {
		t.Error("link-local addresses were opened too")
	}
}
