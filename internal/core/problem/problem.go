// Package problem is the service's one error type. It becomes an RFC 9457
// body over REST and a structured tool error over MCP. Its texts are read by
// people and models: never an internal cause, a query or a secret in them.
package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const urn = "urn:svc:problem:"

// A Kind says what went wrong. It is the suffix of the problem's type URN.
type Kind string

// The kinds of the interface, and those of sign-in and billing.
const (
	BadRequest          Kind = "bad-request"
	Validation          Kind = "validation"
	UnsupportedProtocol Kind = "unsupported-protocol"
	Unauthorized        Kind = "unauthorized"
	InvalidCredentials  Kind = "invalid_credentials"
	PlanLimit           Kind = "plan_limit"
	Forbidden           Kind = "forbidden"
	AccessDenied        Kind = "access_denied"
	ProofNeeded         Kind = "proof_needed"
	SignInRules         Kind = "sign_in_rules"
	NotFound            Kind = "not-found"
	MethodNotAllowed    Kind = "method-not-allowed"
	RequestTimeout      Kind = "request-timeout"
	Conflict            Kind = "conflict"
	AlreadySubscribed   Kind = "already_subscribed"
	Outdated            Kind = "outdated"
	TooLarge            Kind = "too-large"
	UnsupportedMedia    Kind = "unsupported-media-type"
	RateLimited         Kind = "rate-limited"
	Internal            Kind = "internal"
	Unavailable         Kind = "unavailable"
	BillingUnavailable  Kind = "billing_unavailable"
	// The device flow's answers, named as in RFC 8628.
	AuthorizationPending Kind = "authorization_pending"
	SlowDown             Kind = "slow_down"
	ExpiredToken         Kind = "expired_token"
)

type kindInfo struct {
	status int
	title  string
}

var kinds = map[Kind]kindInfo{
	BadRequest:           {400, "Malformed request"},
	Validation:           {400, "Invalid input"},
	UnsupportedProtocol:  {400, "Unsupported hook protocol"},
	AuthorizationPending: {400, "Waiting for approval"},
	SlowDown:             {400, "Polling too fast"},
	ExpiredToken:         {400, "Code expired"},
	Unauthorized:         {401, "Not signed in"},
	InvalidCredentials:   {401, "Wrong email or password"},
	PlanLimit:            {402, "Plan limit reached"},
	Forbidden:            {403, "Not allowed"},
	AccessDenied:         {403, "Request denied"},
	ProofNeeded:          {403, "Prove again who you are"},
	SignInRules:          {403, "The org wants another sign-in"},
	NotFound:             {404, "Not found"},
	MethodNotAllowed:     {405, "Method not allowed"},
	RequestTimeout:       {408, "Request took too long"},
	Conflict:             {409, "State conflict"},
	AlreadySubscribed:    {409, "Already subscribed"},
	Outdated:             {412, "Changed meanwhile"},
	TooLarge:             {413, "Request too large"},
	UnsupportedMedia:     {415, "Unsupported media type"},
	RateLimited:          {429, "Too many requests"},
	Internal:             {500, "Server error"},
	Unavailable:          {503, "Temporarily unavailable"},
	BillingUnavailable:   {503, "Billing is not configured"},
}

// Kinds returns every kind, sorted by name, for the API document.
func Kinds() []Kind {
	out := make([]Kind, 0, len(kinds))
	for k := range kinds {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Status is the HTTP status that carries problems of this kind.
func (k Kind) Status() int { return kinds[k].status }

// Title is the kind in a few words.
func (k Kind) Title() string { return kinds[k].title }

// Type is the kind as a URN.
func (k Kind) Type() string { return urn + string(k) }

// An Error is an error meant for the caller to read. Every other error is
// Internal: it is logged in full and shown as a bare 500.
type Error struct {
	Kind       Kind
	Detail     string
	Fields     []Field
	RetryAfter time.Duration // for RateLimited and Unavailable: when to try again
	Candidates []string      // what the caller may have meant
}

// A Field is one invalid input.
type Field struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Detail
	}
	var b strings.Builder
	b.WriteString(e.Detail)
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "; %s: %s", f.Path, f.Message)
	}
	return b.String()
}

// Newf returns an error of the given kind. The detail is a sentence for the
// caller; say what to do next where there is something to do.
func Newf(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Detail: fmt.Sprintf(format, args...)}
}

// Later returns a RateLimited error that says when to try again.
func Later(after time.Duration, format string, args ...any) error {
	return &Error{Kind: RateLimited, Detail: fmt.Sprintf(format, args...), RetryAfter: after}
}

// Invalid returns a Validation error naming the bad fields, or nil if there
// are none, so that a validator can end with "return problem.Invalid(bad)".
func Invalid(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{Kind: Validation, Detail: "some fields are invalid", Fields: fields}
}

// InvalidField returns a Validation error about one field.
func InvalidField(path, format string, args ...any) error {
	return Invalid([]Field{{Path: path, Message: fmt.Sprintf(format, args...)}})
}

// KindOf returns err's kind, or Internal if err is not an *Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// A Body is the wire form of an error.
type Body struct {
	Type       string   `json:"type"`
	Title      string   `json:"title"`
	Status     int      `json:"status"`
	Detail     string   `json:"detail,omitempty"`
	Errors     []Field  `json:"errors,omitempty"`
	Candidates []string `json:"candidates,omitempty"`
}

// BodyOf returns the wire form of err. It reveals nothing of internal errors.
func BodyOf(err error) Body {
	e := &Error{Kind: Internal, Detail: "something went wrong on our side; the request id is in the X-Request-Id header"}
	errors.As(err, &e)
	k := kinds[e.Kind]
	return Body{e.Kind.Type(), k.title, k.status, e.Detail, e.Fields, e.Candidates}
}

// RetryAfter returns the whole seconds after which to try again, or 0.
func RetryAfter(err error) int {
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter <= 0 {
		return 0
	}
	return int((e.RetryAfter + time.Second - 1) / time.Second)
}

// Read decodes an error from its wire form.
func Read(r io.Reader) error {
	var b Body
	if err := json.NewDecoder(r).Decode(&b); err != nil {
		return fmt.Errorf("unreadable problem: %w", err)
	}
	return &Error{Kind: Kind(strings.TrimPrefix(b.Type, urn)), Detail: b.Detail, Fields: b.Errors, Candidates: b.Candidates}
}
