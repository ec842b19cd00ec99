package wire

import "github.com/svc-hq/svc/internal/core/coord"

// Me is who the caller is.
type Me struct {
	User  *coord.User `json:"user" doc:"null for a service token"`
	Org   coord.Org   `json:"org"`
	Role  *coord.Role `json:"role"`
	Token *TokenName  `json:"token" doc:"null for a dashboard session"`
}

// Tag names this version of the org's settings.
func (m Me) Tag() string { return m.Org.Tag() }

// A TokenName is a token as its bearer sees it.
type TokenName struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Kind   coord.TokenKind `json:"kind"`
	Scopes []coord.Scope   `json:"scopes"`
}

// PatchOrg changes an org's settings.
type PatchOrg struct {
	DataMode coord.DataMode `json:"data_mode"`
	IfMatch
}

// PatchedOrg is the answer to PatchOrg.
type PatchedOrg struct {
	Org               coord.Org      `json:"org"`
	PreviousDataMode  coord.DataMode `json:"previous_data_mode"`
	ClearedSignatures int            `json:"cleared_signatures"`
}

// Tag names this version of the org's settings.
func (p PatchedOrg) Tag() string { return p.Org.Tag() }

// AddMember adds a person to the org.
type AddMember struct {
	Email string     `json:"email" format:"email" maxLength:"254"`
	Name  string     `json:"name,omitempty" maxLength:"200" format:"name"`
	Role  coord.Role `json:"role" default:"member"`
}

// MemberID names a member in a path.
type MemberID struct {
	UserID string `path:"userId"`
}

// Erased is what is left of a person.
type Erased struct {
	Name string `json:"name" doc:"What they are called from now on: former member 7"`
}

// PersonExport is what an org stores about a person, without secrets.
type PersonExport struct {
	Rows []ExportedRow `json:"rows"`
}

// An ExportedRow is one record of a table of the server's.
type ExportedRow struct {
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

// SetRole changes a member's role.
type SetRole struct {
	UserID string     `path:"userId"`
	Role   coord.Role `json:"role"`
}

// CreateInvite offers a place in the org.
type CreateInvite struct {
	Role  coord.Role `json:"role"`
	Email *string    `json:"email" format:"email" maxLength:"254"`
}

// ID names a record in a path.
type ID struct {
	ID string `path:"id"`
}

// CreateToken makes a token.
type CreateToken struct {
	Name          string          `json:"name" minLength:"1" maxLength:"100" format:"name"`
	Kind          coord.TokenKind `json:"kind" default:"pat"`
	UserEmail     *string         `json:"user_email" format:"email" maxLength:"254" doc:"Whose personal token it is; default the caller's own"`
	Scopes        []coord.Scope   `json:"scopes" minItems:"1" maxItems:"32" doc:"Default: what a device-flow token holds, less hooks:evaluate and mcp:tools for a service token"`
	ExpiresInDays *int            `json:"expires_in_days" minimum:"1" maximum:"3650"`
}

// CreatedToken is a new token with its plaintext, shown this once.
type CreatedToken struct {
	coord.Token
	Plaintext string `json:"token"`
}
