package coord

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Tag names a version of something by what people can change about it. Two
// readers who saw the same have the same tag; what svc itself notes (activity,
// what blocks it) makes no other version, or nobody could ever save.
func Tag(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil { // our own records always marshal
		panic(err)
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// Tag names this version of an org's settings.
func (o Org) Tag() string { return Tag(o.ID, o.DataMode, o.SignInRules) }

// Tag names this version of an intent.
func (i Intent) Tag() string {
	review := i.Status == IntentInReview || i.Resume == IntentInReview
	return Tag(i.ID, i.Title, i.Summary, i.PlanMD, i.Mode, i.Scope, i.DependsOn, i.ExternalRef, i.Owner.ID, i.ClosedAt != nil, review)
}
