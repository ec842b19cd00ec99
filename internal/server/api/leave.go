package api

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// A Leave is what an operation lets an agent do. An agent is whatever is not
// surely a person's own word (coord.Caller.IsPerson): the doors of hooks and
// tools, a call under a session's name, a token that agents can use. It does
// not matter whose agent it is: an owner's is an agent.
type Leave int

const (
	// KeepsClaims is what a row says that says nothing: whatever the operation
	// does, what another live session holds exclusively stays as it is. Ground
	// holds it, at the end of every change.
	KeepsClaims Leave = iota
	// AsScoped lets an agent do what the scope and the role give: the interface
	// has a scope for just this, which no login holds.
	AsScoped
	// PersonOnly refuses agents.
	PersonOnly
)

// forPeople refuses agents what is a person's alone, and says where a person
// does it.
func (a *API) forPeople(op *Op, who *coord.Caller, in any) error {
	if op.Agent != PersonOnly || who.IsPerson() {
		return nil
	}
	text := "this takes a person's word, which nothing that an agent uses can give; a person does it at " + a.page(*op, in)
	if op.Instead != "" {
		text += " (" + op.Instead + ")"
	}
	return problem.Newf(problem.Forbidden, "%s", text)
}

// page returns the address at which a person does what op does.
func (a *API) page(op Op, in any) string {
	path := op.Page
	v := reflect.Indirect(reflect.ValueOf(in))
	for _, f := range a.inputs[op.Key()].fields {
		if f.tag == "path" {
			path = strings.ReplaceAll(path, "{"+f.name+"}", fmt.Sprint(v.FieldByIndex(f.index)))
		}
	}
	return a.ops.Work.URL(strings.TrimPrefix(path, "/"))
}

// speaker refuses a caller who names a session that is not theirs: events are by
// it, whatever the operation. Whoever shows its key is that session's agent.
func (a *API) speaker(ctx context.Context, who *coord.Caller) error {
	if who.SessionID == "" || who.OrgID == "" {
		return nil
	}
	lineage, err := a.ops.Work.CheckSession(ctx, *who)
	who.Lineage = lineage
	return err
}
