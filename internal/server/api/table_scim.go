package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/people"
)

// SCIM begins the paths by which a company's directory tells who works there.
const SCIM = "/scim/v2/"

// ForDirectory reports whether an operation is one of a directory's.
func (op *Op) ForDirectory() bool { return strings.Contains(op.Route, " "+SCIM) }

// directory is SCIM 2.0. It makes and unmakes owners, so it takes a token that an
// owner made for just this.
func directory() []Op {
	rows := []Op{
		{Route: "GET /scim/v2/Users", Summary: "List the people of the org", Run: run((*people.Service).ListDirectoryUsers)},
		{Route: "GET /scim/v2/Users/{id}", Summary: "Read one", Problems: fails(missing), Run: run((*people.Service).GetDirectoryUser)},
		{Route: "POST /scim/v2/Users", Summary: "Take somebody into the org", Problems: fails(taken), Events: comings,
			Run: run((*people.Service).CreateDirectoryUser)},
		{Route: "PUT /scim/v2/Users/{id}", Summary: "Replace what is known of somebody", Problems: fails(missing, taken), Events: comings,
			Run: run((*people.Service).PutDirectoryUser)},
		{Route: "PATCH /scim/v2/Users/{id}", Summary: "Change somebody, or deactivate them", Problems: fails(missing, taken), Events: comings,
			Run: run((*people.Service).PatchDirectoryUser)},
		{Route: "DELETE /scim/v2/Users/{id}", Summary: "Take somebody out of the org", Problems: fails(missing, taken), Events: comings,
			Run: run((*people.Service).DeleteDirectoryUser)},
		{Route: "GET /scim/v2/Groups", Summary: "List the directory's groups", Run: run((*people.Service).ListDirectoryGroups)},
		{Route: "GET /scim/v2/Groups/{id}", Summary: "Read one", Problems: fails(missing), Run: run((*people.Service).GetDirectoryGroup)},
		{Route: "POST /scim/v2/Groups", Summary: "Make a group", Problems: fails(taken), Events: comings,
			Run: run((*people.Service).CreateDirectoryGroup)},
		{Route: "PUT /scim/v2/Groups/{id}", Summary: "Replace a group", Problems: fails(missing, taken), Events: comings,
			Run: run((*people.Service).PutDirectoryGroup)},
		{Route: "PATCH /scim/v2/Groups/{id}", Summary: "Change a group, or who is in it", Problems: fails(missing, taken), Events: comings,
			Run: run((*people.Service).PatchDirectoryGroup)},
		{Route: "DELETE /scim/v2/Groups/{id}", Summary: "Remove a group", Problems: fails(missing), Events: comings,
			Run: run((*people.Service).DeleteDirectoryGroup)},
		{Route: "GET /scim/v2/ServiceProviderConfig", Summary: "What this service can do of SCIM 2.0", Run: run(scimConfig)},
		{Route: "GET /scim/v2/ResourceTypes", Summary: "The kinds of resources", Run: run(scimTypes)},
		{Route: "GET /scim/v2/Schemas", Summary: "What they have", Run: run(scimSchemas)},
	}
	for i := range rows {
		op := &rows[i]
		op.Door, op.Scopes, op.Roles, op.Success = BearerOnly, scope(coord.ScopeSCIM), []coord.Role{coord.Owner}, http.StatusOK
		op.Agent, op.Who = AsScoped, "service token that an owner made"
		switch method, _, _ := strings.Cut(op.Route, " "); method {
		case http.MethodPost:
			op.Success = http.StatusCreated
		case http.MethodDelete:
			op.Success = http.StatusNoContent
		}
	}
	return rows
}

var comings = []coord.EventType{coord.EventMemberAdded, coord.EventMemberUpdated, coord.EventMemberRemoved}

func scimConfig(*people.Service, context.Context, coord.Caller, wire.None) (wire.SCIMConfig, error) {
	yes := wire.SCIMCan{Supported: true, MaxResults: wire.SCIMMost}
	return wire.SCIMConfig{Schemas: []string{wire.SCIMConfigSchema}, Patch: yes, Filter: yes, Authentication: []wire.SCIMAuth{{
		Type: "oauthbearertoken", Name: "Token", Description: "A service token with the scope scim, which an owner makes", Primary: true}}}, nil
}

func scimTypes(*people.Service, context.Context, coord.Caller, wire.None) (wire.SCIMPage[wire.SCIMType], error) {
	of := func(name, schema string) wire.SCIMType {
		return wire.SCIMType{Schemas: []string{wire.SCIMTypeSchema}, ID: name, Name: name, Endpoint: "/" + name + "s", Schema: schema}
	}
	return scimAll(of("User", wire.SCIMUserSchema), of("Group", wire.SCIMGroupSchema)), nil
}

func scimAll[T any](all ...T) wire.SCIMPage[T] {
	return wire.SCIMPage[T]{Schemas: []string{wire.SCIMListSchema}, TotalResults: len(all), StartIndex: 1, ItemsPerPage: len(all),
		Resources: all}
}

func scimSchemas(*people.Service, context.Context, coord.Caller, wire.None) (wire.SCIMPage[wire.SCIMSchema], error) {
	attr := func(name, kind string, change ...func(*wire.SCIMAttribute)) wire.SCIMAttribute {
		a := wire.SCIMAttribute{Name: name, Type: kind, Mutability: "readWrite", Returned: "default", Uniqueness: "none"}
		for _, f := range change {
			f(&a)
		}
		return a
	}
	many := func(a *wire.SCIMAttribute) { a.MultiValued = true }
	readOnly := func(a *wire.SCIMAttribute) { a.Mutability = "readOnly" }
	exact := func(a *wire.SCIMAttribute) { a.CaseExact = true }
	unique := func(a *wire.SCIMAttribute) { a.Required, a.Uniqueness = true, "server" }
	with := func(sub ...wire.SCIMAttribute) func(*wire.SCIMAttribute) {
		return func(a *wire.SCIMAttribute) { a.Sub = sub }
	}
	element := with(attr("value", "string", exact), attr("type", "string"), attr("primary", "boolean"), attr("display", "string", readOnly),
		attr("$ref", "reference", readOnly))
	return scimAll(
		wire.SCIMSchema{Schemas: []string{wire.SCIMSchemaSchema}, ID: wire.SCIMUserSchema, Name: "User", Attributes: []wire.SCIMAttribute{
			attr("userName", "string", unique), attr("externalId", "string", exact), attr("displayName", "string"), attr("active", "boolean"),
			attr("name", "complex", with(attr("formatted", "string"), attr("givenName", "string"), attr("familyName", "string"))),
			attr("emails", "complex", many, element), attr("groups", "complex", many, readOnly, element)}},
		wire.SCIMSchema{Schemas: []string{wire.SCIMSchemaSchema}, ID: wire.SCIMGroupSchema, Name: "Group", Attributes: []wire.SCIMAttribute{
			attr("displayName", "string", unique), attr("externalId", "string", exact), attr("members", "complex", many, element)}},
	), nil
}

// SCIMError tells of a problem in the protocol's form.
func SCIMError(b problem.Body, method string) wire.SCIMError {
	out := wire.SCIMError{Schemas: []string{wire.SCIMErrorSchema}, Status: strconv.Itoa(b.Status), Detail: cmp.Or(b.Detail, b.Title)}
	switch {
	case len(b.Errors) > 0:
		f := b.Errors[0]
		out.Detail = f.Path + " " + f.Message
		if out.SCIMType = map[string]string{"filter": "invalidFilter", "path": "invalidPath", "op": "invalidSyntax"}[f.Path]; out.SCIMType == "" {
			out.SCIMType = "invalidValue"
		}
	case b.Status == http.StatusBadRequest:
		out.SCIMType = "invalidSyntax"
	case b.Status == http.StatusConflict && method == http.MethodPost:
		out.SCIMType = "uniqueness"
	}
	return out
}
