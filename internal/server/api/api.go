// Package api lists the operations the service offers and decides who may
// call them. REST, MCP and the dashboard reach operations only through Call,
// so no way in can forget a check.
package api

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	selectors "github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/ops/forge"
	"github.com/svc-hq/svc/internal/server/ops/moments"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/ops/people"
	"github.com/svc-hq/svc/internal/server/ops/talk"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// A Door says who may knock at all.
type Door int

const (
	Anyone     Door = iota // a bearer token or a dashboard cookie
	BearerOnly             // agents: hooks and tools
	CookieOnly             // people in the dashboard, acting in an org
	SignedIn               // people in the dashboard, org or not
	Public                 // no authentication
)

// An Op is one operation as the outside sees it.
type Op struct {
	Route    string         // method and pattern, as for http.ServeMux
	Tool     string         // MCP tool name
	Summary  string         // one line for the API document
	Door     Door           //
	Scopes   []coord.Scope  // the token must hold one of them; none needed if empty
	Personal bool           // service tokens are refused
	Agent    Leave          // what it lets an agent do
	Page     string         // of an operation that is a person's alone: where in the dashboard they do it
	Instead  string         // and what an agent does instead, if there is something
	Roles    []coord.Role   // what the caller must be; any if empty
	Fresh    func(any) bool // whether it takes a fresh proof of somebody in the dashboard, by the input; never if nil
	Who      string         // in words: a rule about roles that the operation itself checks
	Success  int            // HTTP status of a success
	Class    Class          // when it is refused for want of room, where its method does not tell
	Lenient  bool           // unknown fields of the body are ignored
	MaxBody  int64          // bytes; DefaultMaxBody if 0
	Events   []coord.EventType
	Problems []problem.Kind // beyond those that every operation can give
	Browser  *Stop          // of addresses that browsers come to by themselves
	Run      Runner
}

// A Stop is a place on a browser's way. If it fails there, a person is told
// so, and where to begin again.
type Stop struct {
	Failed string // what did not work, as a headline
	To     string // path in the dashboard
	Link   string // what that is called
}

// DefaultMaxBody is how much a request may send where its row says nothing.
const DefaultMaxBody = 1 << 20

// A Runner is an operation with its types erased.
type Runner struct {
	Input  reflect.Type
	Output reflect.Type
	call   func(context.Context, *ops.Rooms, *coord.Caller, func(any) error) (any, error)
}

// A room is a service whose methods the table may bind.
type room interface {
	*people.Service | *money.Service | *work.Service | *talk.Service | *moments.Service | *forge.Service | *outgoing.Service
}

// in returns the room of type R.
func in[R room](all *ops.Rooms) (r R) {
	switch r := any(&r).(type) {
	case **people.Service:
		*r = all.People
	case **money.Service:
		*r = all.Money
	case **work.Service:
		*r = all.Work
	case **talk.Service:
		*r = all.Talk
	case **moments.Service:
		*r = all.Moments
	case **forge.Service:
		*r = all.Forge
	case **outgoing.Service:
		*r = all.Outgoing
	}
	return r
}

// run binds a method of a room's service.
func run[R room, In, Out any](f func(R, context.Context, coord.Caller, In) (Out, error)) Runner {
	return runBy(func(r R, ctx context.Context, who *coord.Caller, in *In) (Out, error) { return f(r, ctx, *who, *in) })
}

// runBy binds one that takes caller and input by address: it is called at each
// edit, or it waits, and what is copied would be on the stack meanwhile.
func runBy[R room, In, Out any](f func(R, context.Context, *coord.Caller, *In) (Out, error)) Runner {
	return Runner{
		Input:  reflect.TypeFor[In](),
		Output: reflect.TypeFor[Out](),
		call: func(ctx context.Context, all *ops.Rooms, who *coord.Caller, decode func(any) error) (any, error) {
			input := new(In)
			if err := decode(input); err != nil {
				return nil, err
			}
			return f(in[R](all), ctx, who, input)
		},
	}
}

// An API runs operations for those who may.
type API struct {
	ops     *ops.Rooms
	Schemas *shape.Registry
	inputs  map[string]*Inputs // by key of the op
	gate    *gate
	// Decided, if set, is told of each answer to the question whether an edit
	// may go on.
	Decided func(Decision)
}

// New returns an API to the operations of s.
func New(s *ops.Rooms) *API {
	made := described()
	return &API{ops: s, Schemas: made.Schemas.Clone(), inputs: made.inputs, gate: newGate(DefaultLimits())}
}

// described has what the table says of inputs, made once: programs have one
// service, tests start thousands.
var described = sync.OnceValue(func() *API {
	a := &API{Schemas: shape.NewRegistry(selectors.Forms()), inputs: map[string]*Inputs{}}
	for _, op := range Table {
		a.inputs[op.Key()] = a.inputsOf(op)
	}
	return a
})

// Limit sets how much is taken on at once. It comes before the first call.
func (a *API) Limit(l Limits) { a.gate = newGate(l) }

// Key names an operation: its route, or its tool where it has none.
func (op *Op) Key() string {
	if op.Route != "" {
		return op.Route
	}
	return "tool " + op.Tool
}

// Check reports whether who may use op.
func Check(op *Op, who *coord.Caller) error {
	switch {
	case op.Door == Public:
		return nil
	case op.Door == BearerOnly && who.Via == coord.ViaCookie:
		return problem.Newf(problem.Forbidden, "a dashboard session cannot call this; use a token")
	case (op.Door == CookieOnly || op.Door == SignedIn) && who.Via != coord.ViaCookie:
		return problem.Newf(problem.Forbidden, "this is for people signed in to the dashboard")
	case op.Door == SignedIn:
		return nil
	case who.Lacks != coord.LacksNothing:
		return problem.Newf(problem.SignInRules, "%s", lacking[who.Lacks])
	case who.OrgID == "":
		return problem.Newf(problem.BadRequest, "say in which org you act with the header X-Svc-Org")
	case op.Personal && !who.Personal():
		return problem.Newf(problem.Forbidden, "this needs a personal token; a service token stands for nobody")
	case len(op.Scopes) > 0 && !slices.ContainsFunc(op.Scopes, who.Has) && (op.Agent != PersonOnly || who.IsPerson()):
		return problem.Newf(problem.Forbidden, "this needs a token with the scope %s", list(op.Scopes, " or "))
	case len(op.Roles) > 0 && !slices.Contains(op.Roles, who.Role) && !serviceAsAdmin(op, who):
		return problem.Newf(problem.Forbidden, "this needs the role %s", list(op.Roles, ", "))
	}
	return nil
}

// lacking says what to do about what a sign-in lacks.
var lacking = map[coord.SignInLack]string{
	coord.LacksFactor: "this org wants a second factor, and you have none; set one up in the dashboard",
	coord.LacksProof:  "this org wants your second factor; show it in the dashboard (POST /v1/auth/prove)",
	coord.LacksMethod: "this org takes no passwords; sign out and sign in another way",
}

// serviceAsAdmin lets a service token use admin operations that are not
// personal: an admin made it with exactly these scopes. Without a scope to
// hold there is nothing an admin could have granted.
func serviceAsAdmin(op *Op, who *coord.Caller) bool {
	return !who.Personal() && len(op.Scopes) > 0 && (slices.Contains(op.Roles, coord.Admin) || op.ForDirectory())
}

func list[T ~string](vs []T, sep string) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = string(v)
	}
	return strings.Join(out, sep)
}

// Now is the service's clock.
func (a *API) Now() coord.Time { return a.ops.Work.Store.Now() }

// An Input is what a call brings.
type Input interface {
	// Decode fills in what an operation takes.
	Decode(in any) error
	// GiveUp ends a Decode that waits for a connection.
	GiveUp()
}

// Given is an Input that is there.
type Given func(in any) error

func (g Given) Decode(in any) error { return g(in) }

// GiveUp has nothing to end.
func (Given) GiveUp() {}

// Call checks that who may use op, then runs it on its input.
// Both are passed on by address: each edit of each agent passes here, and
// what several functions keep would be copied for each of them.
func (a *API) Call(ctx context.Context, op *Op, who *coord.Caller, from Input) (any, error) {
	if err := Check(op, who); err != nil {
		return nil, err
	}
	v, err := a.visit(op, who, from)
	if err != nil {
		return nil, err
	}
	defer v.leave()
	if err := a.speaker(ctx, who); err != nil {
		return nil, err
	}
	began := time.Now()
	out, err := a.run(ctx, op, who, v)
	if reply, is := unchecked(v.given, err); is {
		out, err = reply, nil
	}
	a.decided(ctx, v.given, out, err, time.Since(began))
	return closeCursor(v.tag, out), err
}

// visit counts a call among those of its caller, unless it may be about an edit:
// that, its input tells.
func (a *API) visit(op *Op, who *coord.Caller, in Input) (*visit, error) {
	v := &visit{gate: a.gate, key: callerKey(who), input: in}
	if op.MayDecide() {
		return v, nil
	}
	return v, v.admit(op.ClassOf(nil))
}

// run runs op. What could stop others' edits is answered when those who decide
// these know of it; waiting for them takes up no room.
func (a *API) run(ctx context.Context, op *Op, who *coord.Caller, v *visit) (any, error) {
	ctx, told := store.Noting(ctx)
	out, err := op.Run.call(ctx, a.ops, who, func(in any) error { return a.arrive(ctx, op, who, v, in) })
	v.makeRoom()
	if len(told.Events) > 0 { // also those of an operation that failed after a commit
		a.ops.Ground.Leases.Await(ctx, told)
	}
	return out, err
}

// arrive reads the input of a call and lets it in: whoever sends slowly takes up
// no room. If it may be about an edit, its input has told now whether it is.
func (a *API) arrive(ctx context.Context, op *Op, who *coord.Caller, v *visit, in any) (err error) {
	who.MayFree = who.IsPerson() || op.Agent == AsScoped
	v.given = in
	if op.MayDecide() {
		if err = v.receive(in); err == nil {
			err = v.admit(op.ClassOf(in))
		}
	} else {
		err = v.input.Decode(in)
	}
	if err == nil && who.Via != coord.ViaTool { // tools have no pages
		v.tag, err = a.openCursor(op, who, in)
	}
	if err != nil {
		return err
	}
	if err := a.forPeople(op, who, in); err != nil {
		return err
	}
	if op.Fresh != nil && op.Fresh(in) {
		if err := auth.Fresh(*who, a.Now()); err != nil {
			return err
		}
	}
	return v.enter(ctx, op.ClassOf(in))
}

// CallTool is Call for an agent: the caller counts as active this month. It may
// wait long, so the checks before have a function of their own (see WaitFor).
func (a *API) CallTool(ctx context.Context, op *Op, from *coord.Caller, in Input) (any, News, error) {
	ctx = work.ToolCall(ctx)
	who, v, err := a.admitTool(ctx, op, from, in)
	if err != nil {
		return nil, nil, err
	}
	defer v.leave()
	out, err := a.run(ctx, op, who, v)
	return out, func() (string, error) { return a.news(ctx, from, who.Lineage) }, err
}

// admitTool is what comes before a tool is run: it checks and counts the caller,
// and returns them as who calls a tool.
func (a *API) admitTool(ctx context.Context, op *Op, from *coord.Caller, in Input) (who *coord.Caller, v *visit, err error) {
	who = new(*from)
	who.Via = coord.ViaTool
	if err := Check(op, who); err != nil {
		return nil, nil, err
	}
	if v, err = a.visit(op, who, in); err != nil {
		return nil, nil, err
	}
	if err = a.speaker(ctx, who); err == nil {
		err = a.ops.Money.Admit(ctx, *who)
	}
	if err != nil {
		v.leave()
		return nil, nil, err
	}
	return who, v, nil
}

// news returns what there is for a caller of a lineage.
func (a *API) news(ctx context.Context, from *coord.Caller, lineage string) (string, error) {
	who := *from
	who.Lineage = lineage
	return a.ops.Moments.News(ctx, who)
}

// News returns what waits for the agent that called a tool, in words for it.
type News func() (string, error)

// Find returns the operation of a tool.
func Find(tool string) (Op, bool) {
	for _, op := range Table {
		if op.Tool == tool {
			return op, true
		}
	}
	return Op{}, false
}
