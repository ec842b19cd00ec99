package auth

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/store"
)

// Errors about what a passkey answered. Whether a passkey is known is told to
// nobody who has not got it.
var (
	ErrPasskey = problem.Newf(problem.InvalidCredentials,
		"this passkey is not known here, or it took longer than five minutes; try again, or sign in another way")
	ErrCopied = problem.Newf(problem.InvalidCredentials,
		"this passkey's counter went back, as if there were a copy of it; sign in another way, and remove it under Settings, Profile")
)

// Passkeys are those of a server: a passkey belongs to the host of its public
// address, and works on no other page.
type Passkeys struct{ party *webauthn.WebAuthn }

// PasskeysAt returns the passkeys of the server at an address, or why browsers
// would make none there.
func PasskeysAt(address string) (Passkeys, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return Passkeys{}, problem.Newf(problem.Conflict,
			"passkeys need the server's public address; its administrator can set --public-url")
	case net.ParseIP(u.Hostname()) != nil:
		return Passkeys{}, problem.Newf(problem.Conflict,
			"passkeys belong to a name, and this server's public address is a number (%s); its administrator can set --public-url", u.Host)
	case u.Scheme != "https" && u.Hostname() != "localhost":
		return Passkeys{}, problem.Newf(problem.Conflict,
			"browsers have passkeys only for https, and this server's public address is %s", address)
	}
	required := true
	party, err := webauthn.New(&webauthn.Config{
		RPID:          u.Hostname(),
		RPDisplayName: "svc",
		RPOrigins:     []string{u.Scheme + "://" + u.Host},
		// Which make of key it is, is nobody's business here.
		AttestationPreference: protocol.PreferNoAttestation,
		// A passkey signs in by itself, so it knows for whom, and asks its owner for
		// a PIN, a finger or a face: something they have and something they are.
		AuthenticatorSelection: protocol.AuthenticatorSelection{RequireResidentKey: &required,
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired},
		// Password managers tell more than they were asked.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return Passkeys{}, problem.Newf(problem.Conflict, "passkeys cannot be made for %s: %v", u.Hostname(), err)
	}
	return Passkeys{party}, nil
}

// A PasskeyQuestion is what a browser hands to an authenticator.
type PasskeyQuestion struct {
	Options   map[string]any // as PublicKeyCredential.parse...OptionsFromJSON reads them
	Challenge string         // what the answer has to be about
}

// Register asks for a new passkey of a person who has some.
func (p Passkeys) Register(user coord.User, have []store.Passkey) (out PasskeyQuestion, err error) {
	owner := passkeyOwner{User: user}
	for _, k := range have {
		owner.keys = append(owner.keys, webauthn.Credential{ID: decoded(k.Credential)})
	}
	made, session, err := p.party.BeginRegistration(owner,
		webauthn.WithExclusions(webauthn.Credentials(owner.keys).CredentialDescriptors()))
	if err != nil {
		return out, err
	}
	out.Challenge = session.Challenge
	out.Options, err = object(made.Response)
	return out, err
}

// Ask asks for any passkey of this server's.
func (p Passkeys) Ask() (out PasskeyQuestion, err error) {
	made, session, err := p.party.BeginDiscoverableLogin()
	if err != nil {
		return out, err
	}
	out.Challenge = session.Challenge
	out.Options, err = object(made.Response)
	return out, err
}

// A NewPasskey is what an authenticator answered to Register.
type NewPasskey struct {
	parsed *protocol.ParsedCredentialCreationData
}

// ReadNewPasskey reads a browser's answer.
func ReadNewPasskey(credential map[string]any) (NewPasskey, error) {
	raw, err := json.Marshal(credential)
	if err != nil {
		return NewPasskey{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(raw)
	if err != nil {
		return NewPasskey{}, unreadable()
	}
	return NewPasskey{parsed}, nil
}

// Challenge is what it answers to.
func (n NewPasskey) Challenge() string { return n.parsed.Response.CollectedClientData.Challenge }

// Made returns the passkey that a person has made for this server.
func (p Passkeys) Made(user coord.User, n NewPasskey) (store.Passkey, error) {
	owner := passkeyOwner{User: user}
	session := p.session(n.Challenge())
	session.UserID, session.CredParams = owner.WebAuthnID(), webauthn.CredentialParametersDefault()
	made, err := p.party.CreateCredential(owner, session, n.parsed)
	if err != nil {
		return store.Passkey{}, problem.InvalidField("credential", "was not taken: %s", reason(err))
	}
	return store.Passkey{UserID: user.ID, Credential: encoded(made.ID), PublicKey: encoded(made.PublicKey),
		SignCount: int64(made.Authenticator.SignCount), Synced: made.Flags.BackupEligible}, nil
}

// A PasskeyAnswer is what an authenticator answered to Ask.
type PasskeyAnswer struct {
	parsed *protocol.ParsedCredentialAssertionData
}

// ReadPasskeyAnswer reads a browser's answer.
func ReadPasskeyAnswer(credential map[string]any) (PasskeyAnswer, error) {
	raw, err := json.Marshal(credential)
	if err != nil {
		return PasskeyAnswer{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(raw)
	if err != nil {
		return PasskeyAnswer{}, unreadable()
	}
	return PasskeyAnswer{parsed}, nil
}

// Challenge is what it answers to.
func (a PasskeyAnswer) Challenge() string { return a.parsed.Response.CollectedClientData.Challenge }

// Credential is the name of the passkey that answered.
func (a PasskeyAnswer) Credential() string { return encoded(a.parsed.RawID) }

// Verify returns the counter of a passkey that gave an answer, or what is wrong
// with it.
func (p Passkeys) Verify(a PasskeyAnswer, k store.Passkey) (count int64, err error) {
	key := webauthn.Credential{ID: decoded(k.Credential), PublicKey: decoded(k.PublicKey),
		Flags:         webauthn.CredentialFlags{BackupEligible: k.Synced},
		Authenticator: webauthn.Authenticator{SignCount: uint32(k.SignCount)}}
	owner := passkeyOwner{coord.User{ID: k.UserID}, []webauthn.Credential{key}}
	_, used, err := p.party.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return owner, nil },
		p.session(a.Challenge()), a.parsed)
	switch {
	case err != nil:
		return 0, ErrPasskey
	case used.Authenticator.CloneWarning:
		return 0, ErrCopied
	}
	return int64(used.Authenticator.SignCount), nil
}

// session is what was asked for with a challenge.
func (p Passkeys) session(challenge string) webauthn.SessionData {
	return webauthn.SessionData{Challenge: challenge, RelyingPartyID: p.party.Config.RPID, UserVerification: protocol.VerificationRequired}
}

// A passkeyOwner is a person as authenticators know them.
type passkeyOwner struct {
	coord.User
	keys []webauthn.Credential
}

func (o passkeyOwner) WebAuthnID() []byte                         { return []byte(o.ID) }
func (o passkeyOwner) WebAuthnName() string                       { return o.Email }
func (o passkeyOwner) WebAuthnDisplayName() string                { return o.Name }
func (o passkeyOwner) WebAuthnCredentials() []webauthn.Credential { return o.keys }

func unreadable() error {
	return problem.InvalidField("credential", "is not what a browser answers (PublicKeyCredential.toJSON)")
}

// reason is what the library says in one line.
func reason(err error) string {
	if e, ok := err.(*protocol.Error); ok {
		return e.Details
	}
	return err.Error()
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decoded reads what encoded wrote.
func decoded(text string) []byte {
	b, _ := base64.RawURLEncoding.DecodeString(text)
	return b
}

// object is a value as JSON has it, for an answer.
func object(v any) (out map[string]any, err error) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}
