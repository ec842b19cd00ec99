package wire

import (
	"encoding/json"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// The resources of SCIM 2.0 (RFC 7643), by which a company's directory tells who
// works there. Names of fields are the protocol's.

const (
	SCIMUserSchema   = "urn:ietf:params:scim:schemas:core:2.0:User"
	SCIMGroupSchema  = "urn:ietf:params:scim:schemas:core:2.0:Group"
	SCIMListSchema   = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	SCIMErrorSchema  = "urn:ietf:params:scim:api:messages:2.0:Error"
	SCIMConfigSchema = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
	SCIMTypeSchema   = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
	SCIMSchemaSchema = "urn:ietf:params:scim:schemas:core:2.0:Schema"
)

// SCIMMost is how many resources one answer has at most.
const SCIMMost = 200

// SCIMList asks for a page of resources. The first is number 1, and what is out
// of range is taken for the nearest that is in it.
type SCIMList struct {
	Filter     string `query:"filter" maxLength:"2000"`
	StartIndex int    `query:"startIndex" default:"1"`
	Count      int    `query:"count" default:"100"`
	Excluded   string `query:"excludedAttributes" maxLength:"500"`
}

// SCIMID names a resource.
type SCIMID struct {
	ID       string `path:"id"`
	Excluded string `query:"excludedAttributes" maxLength:"500"`
}

// SCIMBody is a resource or a patch as it was sent. The protocol's names have no
// case, so it is read by hand.
type SCIMBody struct {
	ID   string `path:"id"`
	Text []byte `json:"-"`
}

// ReadRaw takes the body.
func (b *SCIMBody) ReadRaw(body []byte, _ func(string) string) { b.Text = body }

// SCIMNew is SCIMBody of what has no id yet.
type SCIMNew struct {
	Text []byte `json:"-"`
}

// ReadRaw takes the body.
func (b *SCIMNew) ReadRaw(body []byte, _ func(string) string) { b.Text = body }

// SCIMFlag is a truth value, which some directories write as text.
type SCIMFlag bool

// UnmarshalJSON takes true, "true" and "True".
func (f *SCIMFlag) UnmarshalJSON(text []byte) error {
	if string(text) == "null" { // left out, as it were
		return nil
	}
	var truth bool
	err := json.Unmarshal([]byte(strings.ToLower(strings.Trim(string(text), `"`))), &truth)
	*f = SCIMFlag(truth)
	return err
}

// SCIMName is a person's name in parts.
type SCIMName struct {
	Formatted  string `json:"formatted,omitempty"`
	GivenName  string `json:"givenName,omitempty"`
	FamilyName string `json:"familyName,omitempty"`
}

// SCIMValue is an element of a list: an address, or somebody in a group.
type SCIMValue struct {
	Value   string   `json:"value"`
	Type    string   `json:"type,omitempty"`
	Primary SCIMFlag `json:"primary,omitempty"`
	Display string   `json:"display,omitempty"`
	Ref     string   `json:"$ref,omitempty"`
}

// SCIMMeta is what the server says of a resource.
type SCIMMeta struct {
	ResourceType string     `json:"resourceType"`
	Created      coord.Time `json:"created"`
	LastModified coord.Time `json:"lastModified"`
	Location     string     `json:"location"`
}

// SCIMUser is a person.
type SCIMUser struct {
	Schemas     []string    `json:"schemas"`
	ID          string      `json:"id"`
	ExternalID  string      `json:"externalId,omitempty"`
	UserName    string      `json:"userName"`
	Name        SCIMName    `json:"name"`
	DisplayName string      `json:"displayName"`
	Active      SCIMFlag    `json:"active"`
	Emails      []SCIMValue `json:"emails"`
	Groups      []SCIMValue `json:"groups"`
	Meta        SCIMMeta    `json:"meta"`
}

// SCIMGroup is a group of people.
type SCIMGroup struct {
	Schemas     []string    `json:"schemas"`
	ID          string      `json:"id"`
	ExternalID  string      `json:"externalId,omitempty"`
	DisplayName string      `json:"displayName"`
	Members     []SCIMValue `json:"members,omitempty"`
	Meta        SCIMMeta    `json:"meta"`
}

// SCIMPage is a part of a list.
type SCIMPage[T any] struct {
	Schemas      []string `json:"schemas"`
	TotalResults int      `json:"totalResults"`
	StartIndex   int      `json:"startIndex"`
	ItemsPerPage int      `json:"itemsPerPage"`
	Resources    []T      `json:"Resources"`
}

// SCIMError is how the protocol tells of a failure.
type SCIMError struct {
	Schemas  []string `json:"schemas"`
	Status   string   `json:"status"`
	SCIMType string   `json:"scimType,omitempty"`
	Detail   string   `json:"detail"`
}

// SCIMConfig is what the server can do.
type SCIMConfig struct {
	Schemas        []string   `json:"schemas"`
	Patch          SCIMCan    `json:"patch"`
	Bulk           SCIMCan    `json:"bulk"`
	Filter         SCIMCan    `json:"filter"`
	ChangePassword SCIMCan    `json:"changePassword"`
	Sort           SCIMCan    `json:"sort"`
	ETag           SCIMCan    `json:"etag"`
	Authentication []SCIMAuth `json:"authenticationSchemes"`
}

// SCIMCan is one thing that it can do or not.
type SCIMCan struct {
	Supported      bool `json:"supported"`
	MaxResults     int  `json:"maxResults"`
	MaxOperations  int  `json:"maxOperations"`
	MaxPayloadSize int  `json:"maxPayloadSize"`
}

// SCIMAuth is how to prove who one is.
type SCIMAuth struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Primary     bool   `json:"primary"`
}

// SCIMType is a kind of resource.
type SCIMType struct {
	Schemas  []string `json:"schemas"`
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Endpoint string   `json:"endpoint"`
	Schema   string   `json:"schema"`
}

// SCIMSchema is what a kind of resource has.
type SCIMSchema struct {
	Schemas    []string        `json:"schemas"`
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Attributes []SCIMAttribute `json:"attributes"`
}

// SCIMAttribute is one attribute of a schema.
type SCIMAttribute struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	MultiValued bool            `json:"multiValued"`
	Required    bool            `json:"required"`
	CaseExact   bool            `json:"caseExact"`
	Mutability  string          `json:"mutability"`
	Returned    string          `json:"returned"`
	Uniqueness  string          `json:"uniqueness"`
	Sub         []SCIMAttribute `json:"subAttributes,omitempty"`
}
