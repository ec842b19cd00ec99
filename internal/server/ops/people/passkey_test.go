package people_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// An authenticator is a device with one passkey, and the browser in front of it.
type authenticator struct {
	t      *testing.T
	origin string
	rp     string
	key    *ecdsa.PrivateKey
	id     []byte
	handle string // of its owner, base64url
	count  uint32
	flags  byte // user present, user verified
}

const present, verified = 1, 4

func newAuthenticator(t *testing.T) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	rand.Read(id)
	return &authenticator{t: t, origin: "https://svc.example", rp: "svc.example", key: key, id: id, flags: present | verified}
}

func urlText(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// cborBytes is a byte string of up to 65,535 bytes.
func cborBytes(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0x59}, uint16(len(b))), b...)
}

func (a *authenticator) clientData(kind string, q wire.PasskeyQuestion) []byte {
	b, err := json.Marshal(map[string]any{"type": kind, "challenge": q.Options["challenge"], "origin": a.origin, "crossOrigin": false})
	if err != nil {
		a.t.Fatal(err)
	}
	return b
}

func (a *authenticator) data(flags byte) []byte {
	host := sha256.Sum256([]byte(a.rp))
	return binary.BigEndian.AppendUint32(append(host[:], flags), a.count)
}

func (a *authenticator) credential(response map[string]any) map[string]any {
	return map[string]any{"id": urlText(a.id), "rawId": urlText(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"authenticatorAttachment": "platform", "response": response}
}

// create makes the passkey.
func (a *authenticator) create(q wire.PasskeyQuestion) map[string]any {
	a.t.Helper()
	a.handle = q.Options["user"].(map[string]any)["id"].(string)
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		a.t.Fatal(err)
	}
	cose := slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21}, cborBytes(point[1:33]), []byte{0x22}, cborBytes(point[33:]))
	data := slices.Concat(a.data(a.flags|0x40), make([]byte, 16), binary.BigEndian.AppendUint16(nil, uint16(len(a.id))), a.id, cose)
	object := slices.Concat([]byte{0xa3, 0x63}, []byte("fmt"), []byte{0x64}, []byte("none"), []byte{0x67}, []byte("attStmt"),
		[]byte{0xa0, 0x68}, []byte("authData"), cborBytes(data))
	return a.credential(map[string]any{"clientDataJSON": urlText(a.clientData("webauthn.create", q)), "attestationObject": urlText(object),
		"transports": []string{"internal"}})
}

// get answers with the passkey.
func (a *authenticator) get(q wire.PasskeyQuestion) map[string]any {
	a.t.Helper()
	a.count++
	client, data := a.clientData("webauthn.get", q), a.data(a.flags)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(slices.Concat(data, hash[:]))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return a.credential(map[string]any{"clientDataJSON": urlText(client), "authenticatorData": urlText(data), "signature": urlText(signature),
		"userHandle": a.handle})
}

// passkeyWorld is a service for which browsers have passkeys.
func passkeyWorld(t *testing.T, dsn string) *daemontest.World {
	w := daemontest.StartWith(t, daemon.Config{Database: dsn, PublicURL: "https://svc.example"})
	w.Freeze()
	return w
}

func (p *phone) askNew() (q wire.PasskeyQuestion) {
	p.t.Helper()
	p.must(200, "POST", "/v1/auth/passkeys", nil, &q)
	return q
}

// add gives somebody a passkey.
func (p *phone) add(a *authenticator, name string) (out wire.AddedPasskey) {
	p.t.Helper()
	p.must(201, "POST", "/v1/auth/passkeys/add", wire.AddPasskey{Name: name, Credential: a.create(p.askNew())}, &out)
	return out
}

func askAny(w *daemontest.World) (q wire.PasskeyQuestion) {
	w.Must(200, request{Method: "POST", Path: "/v1/auth/passkey"}, &q)
	return q
}

func enterBy(w *daemontest.World, credential map[string]any, ticket string) daemontest.Response {
	return w.Do(request{Method: "POST", Path: "/v1/auth/passkey/sign-in", Body: wire.ShowPasskey{Credential: credential, Ticket: ticket}})
}

func factorsOf(p *phone) (out wire.Factors) {
	p.must(200, "GET", "/v1/auth/factors", nil, &out)
	return out
}

func TestPasskeysAreAdded(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := passkeyWorld(t, dsn)
		o := w.Org("Acme")
		p, moe := newPhone(t, w, o.Users[coord.Owner]), newPhone(t, w, o.Users[coord.Member])
		other := cookieOf(t, signIn(w, p.user.Email, password)).Value
		var offers wire.SignInOptions
		w.Must(200, request{Method: "GET", Path: "/v1/auth/options"}, &offers)
		if has := factorsOf(p); !offers.Passkeys || has.PasskeysOff != "" || has.Passkeys == nil {
			t.Errorf("offered: %+v %+v", offers, has)
		}

		q := p.askNew()
		text, _ := json.Marshal(q.Options)
		for _, want := range []string{`"rp":{"id":"svc.example"`, `"residentKey":"required"`, `"userVerification":"required"`,
			`"attestation":"none"`, `"name":"` + p.user.Email + `"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the browser is asked without %s: %s", want, text)
			}
		}
		// An answer counts for the person and the page that was asked, once, for five
		// minutes, and if the device has verified who is in front of it.
		laptop := newAuthenticator(t)
		add := func(by *phone, credential map[string]any) int {
			return by.do("POST", "/v1/auth/passkeys/add", wire.AddPasskey{Name: "laptop", Credential: credential}).Status
		}
		if got := add(moe, laptop.create(q)); got != 404 {
			t.Errorf("another person's question = %d", got)
		}
		elsewhere := *laptop
		elsewhere.origin = "https://svc.example.evil"
		if got := add(p, elsewhere.create(q)); got != 400 {
			t.Errorf("on another page = %d", got)
		}
		if got := add(p, laptop.create(q)); got != 404 {
			t.Errorf("the question again = %d", got)
		}
		unsure := *laptop
		unsure.flags = present
		if got := add(p, unsure.create(p.askNew())); got != 400 {
			t.Errorf("without user verification = %d", got)
		}
		if got := add(p, map[string]any{"id": "x"}); got != 400 {
			t.Errorf("what is no answer = %d", got)
		}
		signing := askAny(w)
		signing.Options["user"] = q.Options["user"]
		if got := add(p, laptop.create(signing)); got != 404 {
			t.Errorf("a question for signing in = %d", got)
		}
		q = p.askNew()
		w.Advance(6 * time.Minute)
		if got := add(p, laptop.create(q)); got != 404 {
			t.Errorf("six minutes later = %d", got)
		}

		// The first brings recovery codes and ends sign-ins that did without.
		made := p.add(laptop, "laptop")
		if len(made.RecoveryCodes) != 10 || made.Passkey.Name != "laptop" || made.Passkey.LastUsedAt != nil {
			t.Errorf("the first: %+v", made)
		}
		notKept(t, w, made.RecoveryCodes...)
		w.Must(401, request{Method: "GET", Path: "/v1/auth/session", Cookie: other}, nil)
		q = p.askNew()
		if text, _ := json.Marshal(q.Options["excludeCredentials"]); !strings.Contains(string(text), urlText(laptop.id)) {
			t.Errorf("a device with a passkey is not left out: %s", text)
		}
		if got := add(p, laptop.create(q)); got != 409 {
			t.Errorf("the same passkey again = %d", got)
		}
		if second := p.add(newAuthenticator(t), "key ring"); len(second.RecoveryCodes) != 0 {
			t.Errorf("the second: %+v", second)
		}
		if has := factorsOf(p); len(has.Passkeys) != 2 || has.RecoveryCodes != 10 || has.ProveWith != "passkey" || has.TOTP {
			t.Errorf("has %+v", has)
		}
		for i := range 18 {
			p.add(newAuthenticator(t), strings.Repeat("x", i+1))
		}
		p.must(409, "POST", "/v1/auth/passkeys", nil, nil)

		// They go one by one, and with the last one the recovery codes.
		w.Advance(auth.FreshFor + time.Minute)
		p.must(403, "DELETE", "/v1/auth/passkeys/"+made.Passkey.ID, nil, nil)
		p.must(204, "POST", "/v1/auth/prove", wire.Prove{Code: made.RecoveryCodes[0]}, nil)
		moe.cookie = w.Cookie(moe.user)
		moe.must(404, "DELETE", "/v1/auth/passkeys/"+made.Passkey.ID, nil, nil)
		for _, k := range factorsOf(p).Passkeys {
			if p.half() == "" {
				t.Error("a password alone signs in")
			}
			p.must(204, "DELETE", "/v1/auth/passkeys/"+k.ID, nil, nil)
		}
		p.must(404, "DELETE", "/v1/auth/passkeys/"+made.Passkey.ID, nil, nil)
		if has := factorsOf(p); len(has.Passkeys) != 0 || has.RecoveryCodes != 0 || has.ProveWith != "password" {
			t.Errorf("without any: %+v", has)
		}
		cookieOf(t, signIn(w, p.user.Email, password))
		told := map[string]int{}
		for _, c := range changes(w, o.ID) {
			told[c]++
		}
		if want := map[string]int{"passkey added": 20, "passkey removed": 20, "recovery_codes used": 1}; !maps.Equal(told, want) {
			t.Errorf("the audit log tells %v", told)
		}
	})
}

func TestAPasskeySignsIn(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := passkeyWorld(t, dsn)
		o := w.Org("Acme")
		p, moe := newPhone(t, w, o.Users[coord.Owner]), newPhone(t, w, o.Users[coord.Member])
		laptop, theirs := newAuthenticator(t), newAuthenticator(t)
		spare := p.add(laptop, "laptop").RecoveryCodes
		moe.add(theirs, "phone")

		// The question tells nothing of anybody.
		q := askAny(w)
		if _, lists := q.Options["allowCredentials"]; lists || q.Options["rpId"] != "svc.example" || q.Options["userVerification"] != "required" {
			t.Errorf("asked: %v", q.Options)
		}
		answer := laptop.get(q)
		in := enterBy(w, answer, "")
		p.cookie = cookieOf(t, in).Value
		var session wire.SignedIn
		p.must(200, "GET", "/v1/auth/session", nil, &session)
		if session.User.ID != p.user.ID || factorsOf(p).Passkeys[0].LastUsedAt == nil {
			t.Errorf("signed in: %+v", session)
		}

		// Refused in the same words, whatever is wrong.
		refused := func(what string, credential map[string]any) {
			t.Helper()
			res := enterBy(w, credential, "")
			if res.Status != 401 || !strings.Contains(string(res.Body), "not known here") || len(res.Header.Values("Set-Cookie")) > 0 {
				t.Errorf("%s = %d %s", what, res.Status, res.Body)
			}
		}
		refused("the answer again", answer)
		late := laptop.get(askAny(w))
		w.Advance(6 * time.Minute)
		refused("six minutes later", late)
		for what, wrong := range map[string]func(*authenticator){
			"another page":      func(a *authenticator) { a.origin = "https://svc.example:8443" },
			"another server":    func(a *authenticator) { a.rp = "other.example" },
			"no verification":   func(a *authenticator) { a.flags = present },
			"nobody present":    func(a *authenticator) { a.flags = verified },
			"another key":       func(a *authenticator) { a.key = theirs.key },
			"another's handle":  func(a *authenticator) { a.handle = theirs.handle },
			"no handle":         func(a *authenticator) { a.handle = "" },
			"an unknown device": func(a *authenticator) { a.id = bytes.Repeat([]byte{7}, 16) },
		} {
			bad := *laptop
			wrong(&bad)
			refused(what, bad.get(askAny(w)))
		}
		refused("a made-up question",
			laptop.get(wire.PasskeyQuestion{Options: map[string]any{"challenge": urlText(bytes.Repeat([]byte{1}, 32))}}))
		refused("a question for a new passkey", laptop.get(p.askNew()))
		if res := enterBy(w, map[string]any{"id": "x"}, ""); res.Status != 400 {
			t.Errorf("what is no answer = %d", res.Status)
		}

		// A counter that goes back: a copy. The passkey is refused, and that is told.
		laptop.count = 0
		if res := enterBy(w, laptop.get(askAny(w)), ""); res.Status != 401 || !strings.Contains(string(res.Body), "copy of it") {
			t.Errorf("a copy = %d %s", res.Status, res.Body)
		}
		if k := factorsOf(p).Passkeys[0]; k.CopiedAt == nil || !slices.Contains(changes(w, o.ID), "passkey copied") {
			t.Errorf("after a copy: %+v, %q", k, changes(w, o.ID))
		}
		laptop.count = 100

		// After a password it is the second factor, of the same person.
		ticket := p.half()
		if res := enterBy(w, theirs.get(askAny(w)), ticket); res.Status != 401 || !strings.Contains(string(res.Body), "somebody else's") {
			t.Errorf("another's passkey = %d %s", res.Status, res.Body)
		}
		if res := enterBy(w, laptop.get(askAny(w)), "x"+ticket); res.Status != 404 {
			t.Errorf("a made-up ticket = %d %s", res.Status, res.Body)
		}
		p.cookie = cookieOf(t, enterBy(w, laptop.get(askAny(w)), ticket)).Value
		if res := enterBy(w, laptop.get(askAny(w)), ticket); res.Status != 404 {
			t.Errorf("the ticket again = %d %s", res.Status, res.Body)
		}
		if res := p.show(p.half(), spare[0]); res.Status != 200 {
			t.Errorf("a recovery code = %d %s", res.Status, res.Body)
		}

		// And a fresh proof.
		w.Advance(auth.FreshFor + time.Minute)
		p.must(403, "POST", "/v1/auth/passkeys", nil, nil)
		p.must(400, "POST", "/v1/auth/prove", wire.Prove{Password: password}, nil)
		p.must(401, "POST", "/v1/auth/prove", wire.Prove{Passkey: theirs.get(askAny(w))}, nil)
		p.must(403, "POST", "/v1/auth/passkeys", nil, nil)
		proof := laptop.get(askAny(w))
		p.must(204, "POST", "/v1/auth/prove", wire.Prove{Passkey: proof}, nil)
		p.must(401, "POST", "/v1/auth/prove", wire.Prove{Passkey: proof}, nil)
		p.must(200, "POST", "/v1/auth/passkeys", nil, nil)

		// A disabled account stays out.
		w.Write("signin", func(ctx context.Context, tx *store.Tx) error { return tx.SetDisabled(ctx, moe.user.ID, true) })
		if res := enterBy(w, theirs.get(askAny(w)), ""); res.Status != 403 {
			t.Errorf("disabled = %d %s", res.Status, res.Body)
		}
	})
}

// An org without passwords takes a passkey, which is a second factor, too. Nobody
// removes their last way in.
func TestPasskeysKeepAnOrgsRules(t *testing.T) {
	w := passkeyWorld(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	p, moe := newPhone(t, w, o.Users[coord.Owner]), newPhone(t, w, o.Users[coord.Member])
	at := func(p *phone) request {
		return request{Method: "GET", Path: "/v1/intents", Cookie: p.cookie, Org: o.Slug}
	}
	rules := request{Method: "PUT", Path: "/v1/org/sign-in", Org: o.Slug,
		Body: wire.SetSignInRules{RequireSecondFactor: true, PasswordsOff: true}}
	laptop := newAuthenticator(t)
	made := p.add(laptop, "laptop")
	rules.Cookie = p.cookie
	w.Must(409, rules, nil) // signed in with a password
	p.cookie = cookieOf(t, enterBy(w, laptop.get(askAny(w)), "")).Value
	rules.Cookie = p.cookie
	w.Must(200, rules, nil)
	w.Must(200, at(p), nil)
	p.must(409, "DELETE", "/v1/auth/passkeys/"+made.Passkey.ID, nil, nil)
	if has := factorsOf(p); len(has.Passkeys) != 1 || has.RecoveryCodes != 10 {
		t.Errorf("the last way in: %+v", has)
	}

	w.Must(403, at(moe), nil)
	phone := newAuthenticator(t)
	moe.add(phone, "phone") // still by a password, for this org
	w.Must(403, at(moe), nil)
	moe.cookie = cookieOf(t, enterBy(w, phone.get(askAny(w)), "")).Value
	w.Must(200, at(moe), nil)
}

// Failures are counted by address, as those of passwords are.
func TestPasskeysCannotBeTriedForever(t *testing.T) {
	w := passkeyWorld(t, t.TempDir()+"/svc.db")
	stranger := newAuthenticator(t)
	seen := map[int]int{}
	for range 62 {
		seen[enterBy(w, stranger.get(wire.PasskeyQuestion{Options: map[string]any{"challenge": urlText(make([]byte, 32))}}), "").Status]++
	}
	if seen[401] != 60 || seen[429] != 2 {
		t.Errorf("62 wrong answers: %v", seen)
	}
}

// Where browsers have no passkeys, the server says why.
func TestWherePasskeysCannotBe(t *testing.T) {
	for address, why := range map[string]string{
		"http://svc.example":    "only for https",
		"https://192.0.2.7":     "is a number",
		"http://127.0.0.1:8080": "is a number",
	} {
		w := daemontest.StartWith(t, daemon.Config{Database: t.TempDir() + "/svc.db", PublicURL: address})
		p := newPhone(t, w, w.Org("Acme").Users[coord.Owner])
		var offers wire.SignInOptions
		w.Must(200, request{Method: "GET", Path: "/v1/auth/options"}, &offers)
		if has := factorsOf(p); offers.Passkeys || !strings.Contains(has.PasskeysOff, why) {
			t.Errorf("%s: %+v %q", address, offers, has.PasskeysOff)
		}
		p.must(409, "POST", "/v1/auth/passkeys", nil, nil)
		w.Must(409, request{Method: "POST", Path: "/v1/auth/passkey"}, nil)
	}
}
