package people

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scim"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// A company's directory says by SCIM who works there. An active person of it is a
// member of the org; deactivating takes them out as an owner would, with their
// tokens, sign-ins, sessions and streams. Nothing else in the house knows of
// directories: who may do what is a matter of membership, as for everybody.

const noUser = "no such user in this org"

func (s *Service) scimURL(kind, id string) string {
	return s.Config.PublicURL + "/scim/v2/" + kind + "/" + id
}

// asUser is a person as the protocol shows them.
func (s *Service) asUser(u store.DirectoryUser, groups []store.DirectoryGroup) wire.SCIMUser {
	given, family := u.GivenName, u.FamilyName
	if !u.Named {
		given, family, _ = strings.Cut(u.Name, " ")
	}
	out := wire.SCIMUser{Schemas: []string{wire.SCIMUserSchema}, ID: u.ID, ExternalID: u.ExternalID, UserName: u.UserName, DisplayName: u.Name,
		Name: wire.SCIMName{Formatted: u.Name, GivenName: given, FamilyName: family}, Active: wire.SCIMFlag(u.Active()),
		Emails: []wire.SCIMValue{{Value: u.Email, Type: "work", Primary: true}}, Groups: []wire.SCIMValue{},
		Meta: wire.SCIMMeta{ResourceType: "User", Created: u.CreatedAt, LastModified: u.UpdatedAt, Location: s.scimURL("Users", u.ID)}}
	for _, g := range groups {
		if slices.ContainsFunc(g.Members, func(m store.DirectorySeat) bool { return m.UserID == u.ID }) {
			out.Groups = append(out.Groups, wire.SCIMValue{Value: g.ID, Display: g.Name, Ref: s.scimURL("Groups", g.ID)})
		}
	}
	return out
}

// page cuts a list as the protocol wants it.
func scimPage[T any](all []T, in wire.SCIMList) (wire.SCIMPage[T], error) {
	if in.Filter != "" {
		wanted, err := scim.ParseFilter(in.Filter)
		if err != nil {
			return wire.SCIMPage[T]{}, err
		}
		all = slices.DeleteFunc(all, func(x T) bool { return !wanted(asMap(x)) })
	}
	from := min(max(in.StartIndex, 1), len(all)+1)
	to := min(from+min(max(in.Count, 0), wire.SCIMMost), len(all)+1)
	return wire.SCIMPage[T]{Schemas: []string{wire.SCIMListSchema}, TotalResults: len(all), StartIndex: from, ItemsPerPage: to - from,
		Resources: all[from-1 : to-1]}, nil
}

// asMap is a resource as filters and patches see it.
func asMap(resource any) (out map[string]any) {
	text, _ := json.Marshal(resource) // of our own shapes, which all can be
	_ = json.Unmarshal(text, &out)
	return out
}

// ListDirectoryUsers shows a directory the people of the org.
func (s *Service) ListDirectoryUsers(ctx context.Context, who coord.Caller, in wire.SCIMList) (out wire.SCIMPage[wire.SCIMUser],
	err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		users, err := tx.DirectoryUsers(ctx, who.OrgID)
		if err != nil {
			return err
		}
		groups, err := tx.DirectoryGroups(ctx, who.OrgID, "", "")
		if err != nil {
			return err
		}
		shown := make([]wire.SCIMUser, len(users))
		for i, u := range users {
			shown[i] = s.asUser(u, groups)
		}
		out, err = scimPage(shown, in)
		return err
	})
	return out, err
}

// GetDirectoryUser shows one of them.
func (s *Service) GetDirectoryUser(ctx context.Context, who coord.Caller, in wire.SCIMID) (out wire.SCIMUser, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, _, err = s.directoryUser(ctx, tx, who.OrgID, in.ID)
		return err
	})
	return out, err
}

func (s *Service) directoryUser(ctx context.Context, tx *store.Tx, org, id string) (wire.SCIMUser, store.DirectoryUser, error) {
	if err := ground.WantUUID(id, noUser); err != nil {
		return wire.SCIMUser{}, store.DirectoryUser{}, err
	}
	u, err := tx.DirectoryUser(ctx, org, id)
	if err != nil {
		return wire.SCIMUser{}, u, err
	}
	groups, err := tx.DirectoryGroups(ctx, org, id, "")
	return s.asUser(u, groups), u, err
}

// CreateDirectoryUser takes somebody into the org. A member whom the directory
// has not named yet is named by it from now on.
func (s *Service) CreateDirectoryUser(ctx context.Context, who coord.Caller, in wire.SCIMNew) (out wire.SCIMUser, err error) {
	want := wire.SCIMUser{Active: true}
	if err := scimDecode(in.Text, &want); err != nil {
		return out, err
	}
	email, err := scimAddress(&want, nil)
	if err != nil {
		return out, err
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		users, err := c.DirectoryUsers(ctx, who.OrgID)
		if err != nil {
			return err
		}
		for _, u := range users {
			if u.Named && (store.DirectoryKey(u.UserName) == store.DirectoryKey(want.UserName) || u.Email == email) {
				return problem.Newf(problem.Conflict, "this org has a user with the userName %s or the address %s already", want.UserName, email)
			}
		}
		account, err := c.AccountByEmail(ctx, email)
		if err != nil {
			return err
		}
		if account != nil {
			if err := s.mayTakeIn(ctx, c.Tx, who.OrgID, account.ID); err != nil {
				return err
			}
		}
		user, err := s.ensureUser(ctx, c.Tx, email, scimDisplay(want))
		if err != nil {
			return err
		}
		now := store.DirectoryUser{User: user}
		if m, err := c.Member(ctx, who.OrgID, user.ID); err == nil {
			now.Role = &m.Role
		} else if problem.KindOf(err) != problem.NotFound {
			return err
		}
		return s.saveDirectoryUser(ctx, c, now, want, email, &out)
	})
	s.Forget(who.OrgID)
	return out, err
}

// mayTakeIn refuses an account that the org does not have where others may: an
// address alone makes nobody a member of a stranger's org.
func (s *Service) mayTakeIn(ctx context.Context, tx *store.Tx, org, user string) error {
	if _, err := tx.DirectoryUser(ctx, org, user); problem.KindOf(err) != problem.NotFound {
		return err
	}
	n, err := tx.CountOrgs(ctx)
	if err == nil && n > 1 {
		err = problem.Newf(problem.Conflict, "this address has an account that is not of this org; invite the person, and create the user when "+
			"they have joined")
	}
	return err
}

// PutDirectoryUser makes a person what a directory says.
func (s *Service) PutDirectoryUser(ctx context.Context, who coord.Caller, in wire.SCIMBody) (wire.SCIMUser, error) {
	return s.changeDirectoryUser(ctx, who, in.ID, func(wire.SCIMUser) (want wire.SCIMUser, err error) {
		want.Active = true // as of somebody new, if it does not say
		err = scimDecode(in.Text, &want)
		return want, err
	})
}

// PatchDirectoryUser changes some of it.
func (s *Service) PatchDirectoryUser(ctx context.Context, who coord.Caller, in wire.SCIMBody) (wire.SCIMUser, error) {
	return s.changeDirectoryUser(ctx, who, in.ID, func(have wire.SCIMUser) (want wire.SCIMUser, err error) {
		if have.Name.Formatted == have.DisplayName {
			have.Name.Formatted = "" // ours, made of the other
		}
		err = scimPatch(have, in.Text, &want)
		full := func(n wire.SCIMName) string { return strings.TrimSpace(n.GivenName + " " + n.FamilyName) }
		if want.DisplayName == have.DisplayName && have.DisplayName == full(have.Name) {
			want.DisplayName = full(want.Name)
		}
		return want, err
	})
}

func (s *Service) changeDirectoryUser(ctx context.Context, who coord.Caller, id string,
	change func(wire.SCIMUser) (wire.SCIMUser, error)) (out wire.SCIMUser, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		have, now, err := s.directoryUser(ctx, c.Tx, who.OrgID, id)
		if err != nil {
			return err
		}
		want, err := change(have)
		if err != nil {
			return err
		}
		email, err := scimAddress(&want, &have)
		if err != nil {
			return err
		}
		return s.saveDirectoryUser(ctx, c, now, want, email, &out)
	})
	s.Forget(who.OrgID)
	return out, err
}

// saveDirectoryUser stores what a directory says of somebody, and does what that
// means: a member comes, changes or goes.
func (s *Service) saveDirectoryUser(ctx context.Context, c *ground.Change, now store.DirectoryUser, want wire.SCIMUser, email string,
	out *wire.SCIMUser) error {
	org := c.Who.OrgID
	if err := s.followDirectory(ctx, c, now.User, scimDisplay(want), email); err != nil {
		return err
	}
	err := c.SaveDirectoryUser(ctx, org, store.DirectoryUser{User: now.User, UserName: want.UserName, ExternalID: want.ExternalID,
		GivenName: want.Name.GivenName, FamilyName: want.Name.FamilyName})
	if err != nil {
		return err
	}
	switch {
	case now.Active() && !bool(want.Active):
		err = remove(ctx, c, coord.Membership{User: now.User, Role: *now.Role})
	case !now.Active() && bool(want.Active):
		var role coord.Role
		if role, err = directoryRole(ctx, c.Tx, org, now.ID); err == nil {
			err = ground.FirstError(c.InsertMember(ctx, org, now.ID, role),
				ground.Tell(ctx, c.Tx, c.Who, coord.EventMemberAdded, now.ID, "", wire.MemberAddedPayload{Role: role, By: "directory"}))
		}
	}
	if err != nil {
		return err
	}
	*out, _, err = s.directoryUser(ctx, c.Tx, org, now.ID)
	return err
}

// followDirectory takes over name and address, where the account is this org's
// alone: what others call a person is not for one org to say.
func (s *Service) followDirectory(ctx context.Context, c *ground.Change, user coord.User, name, email string) error {
	orgs, err := c.OrgsOf(ctx, user.ID)
	if err != nil || slices.ContainsFunc(orgs, func(o store.OrgRole) bool { return o.ID != c.Who.OrgID }) {
		return err
	}
	var changed wire.MemberUpdatedPayload
	if name != "" && name != user.Name {
		changed.Name, err = true, c.SetUserName(ctx, user.ID, name)
	}
	if err == nil && email != user.Email {
		changed.Email, err = true, c.SetUserEmail(ctx, user.ID, email)
	}
	if err != nil || !changed.Name && !changed.Email {
		return err
	}
	changed.By = "directory"
	return ground.Tell(ctx, c.Tx, c.Who, coord.EventMemberUpdated, user.ID, "", changed)
}

// DeleteDirectoryUser takes somebody out of the org and forgets what its
// directory said of them. Their account and their work stay.
func (s *Service) DeleteDirectoryUser(ctx context.Context, who coord.Caller, in wire.SCIMID) (out wire.None, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		_, now, err := s.directoryUser(ctx, c.Tx, who.OrgID, in.ID)
		if err == nil && now.Active() {
			err = remove(ctx, c, coord.Membership{User: now.User, Role: *now.Role})
		}
		return ground.FirstError(err, c.DeleteDirectoryUser(ctx, who.OrgID, in.ID))
	})
	s.Forget(who.OrgID)
	return out, err
}

// scimDecode reads a resource, without what is not for others to say.
func scimDecode(text []byte, to any) error {
	var resource map[string]any
	err := json.Unmarshal(text, &resource)
	if err == nil {
		scim.Drop(resource, "schemas", "id", "groups", "meta")
		text, err = json.Marshal(resource)
	}
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return problem.Newf(problem.BadRequest, "the body is not what SCIM 2.0 takes here: %v", err)
	}
	return nil
}

// scimPatch makes want of have by a patch.
func scimPatch(have any, text []byte, want any) error {
	var patch struct{ Operations []scim.Operation }
	if err := scimDecode(text, &patch); err != nil {
		return err
	}
	if len(patch.Operations) == 0 {
		return problem.InvalidField("Operations", "has none")
	}
	resource := asMap(have)
	if err := scim.Apply(resource, patch.Operations); err != nil {
		return err
	}
	changed, err := json.Marshal(resource)
	if err != nil {
		return err
	}
	return scimDecode(changed, want)
}

// scimAddress checks a person that a directory sends and returns their address:
// the primary one, or the userName if it is one; or, if none of them changed, the
// one they have.
func scimAddress(want, have *wire.SCIMUser) (string, error) {
	if want.UserName = strings.TrimSpace(want.UserName); want.UserName == "" || len(want.UserName) > 254 || !coord.IsName(want.UserName) {
		return "", problem.InvalidField("userName", "must be text that can be seen, at most 254 characters")
	}
	for name, text := range map[string]string{"displayName": want.DisplayName, "name.formatted": want.Name.Formatted,
		"name.givenName": want.Name.GivenName, "name.familyName": want.Name.FamilyName, "externalId": want.ExternalID} {
		if len(text) > 200 || !coord.IsName(text) {
			return "", problem.InvalidField(name, "must be text that can be seen, at most 200 characters")
		}
	}
	emails := slices.Clone(want.Emails)
	slices.SortStableFunc(emails, func(a, b wire.SCIMValue) int {
		rank := func(v wire.SCIMValue) int {
			switch {
			case bool(v.Primary):
				return 0
			case strings.EqualFold(v.Type, "work"):
				return 1
			}
			return 2
		}
		return cmp.Compare(rank(a), rank(b))
	})
	email := want.UserName
	if len(emails) > 0 && emails[0].Value != "" {
		email = emails[0].Value
	} else if have != nil && (want.UserName == have.UserName || !shape.IsEmail(email)) {
		email = have.Emails[0].Value
	}
	if email = store.EmailKey(email); !shape.IsEmail(email) || len(email) > 254 {
		return "", problem.InvalidField("emails", "must have an email address, or the userName must be one")
	}
	return email, nil
}

// scimDisplay is what a person is called.
func scimDisplay(u wire.SCIMUser) string {
	return cmp.Or(strings.TrimSpace(u.DisplayName), strings.TrimSpace(u.Name.Formatted),
		strings.TrimSpace(u.Name.GivenName+" "+u.Name.FamilyName))
}
