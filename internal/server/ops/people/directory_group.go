package people

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// Groups of a directory give roles by their names: svc-admin makes admins. Other
// groups are kept, since directories compare them, and mean nothing here.

const noGroup = "no such group in this org"

// highest lists the roles, the strongest first.
var highest = []coord.Role{coord.Owner, coord.Admin, coord.Member, coord.Billing, coord.Viewer}

// groupRole is the role that a group gives, or "".
func groupRole(name string) coord.Role {
	role, ok := strings.CutPrefix(strings.ReplaceAll(store.DirectoryKey(name), " ", "-"), "svc-")
	if !ok || !slices.Contains(highest, coord.Role(role)) {
		return ""
	}
	return coord.Role(role)
}

// directoryRole is what somebody's groups make of them: the strongest of their
// roles, or a member.
func directoryRole(ctx context.Context, tx *store.Tx, org, user string) (coord.Role, error) {
	groups, err := tx.DirectoryGroups(ctx, org, user, "")
	for _, role := range highest {
		if slices.ContainsFunc(groups, func(g store.DirectoryGroup) bool { return groupRole(g.Name) == role }) {
			return role, err
		}
	}
	return coord.Member, err
}

func (s *Service) asGroup(g store.DirectoryGroup, excluded string) wire.SCIMGroup {
	out := wire.SCIMGroup{Schemas: []string{wire.SCIMGroupSchema}, ID: g.ID, ExternalID: g.ExternalID, DisplayName: g.Name,
		Meta: wire.SCIMMeta{ResourceType: "Group", Created: g.CreatedAt, LastModified: g.UpdatedAt, Location: s.scimURL("Groups", g.ID)}}
	if slices.Contains(strings.Split(strings.ToLower(excluded), ","), "members") {
		return out
	}
	for _, m := range g.Members {
		out.Members = append(out.Members, wire.SCIMValue{Value: m.UserID, Display: m.Name, Type: "User", Ref: s.scimURL("Users", m.UserID)})
	}
	return out
}

// ListDirectoryGroups shows a directory the groups that it made.
func (s *Service) ListDirectoryGroups(ctx context.Context, who coord.Caller, in wire.SCIMList) (out wire.SCIMPage[wire.SCIMGroup],
	err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		groups, err := tx.DirectoryGroups(ctx, who.OrgID, "", "")
		if err != nil {
			return err
		}
		shown := make([]wire.SCIMGroup, len(groups))
		for i, g := range groups {
			shown[i] = s.asGroup(g, in.Excluded)
		}
		out, err = scimPage(shown, in)
		return err
	})
	return out, err
}

// GetDirectoryGroup shows one of them.
func (s *Service) GetDirectoryGroup(ctx context.Context, who coord.Caller, in wire.SCIMID) (out wire.SCIMGroup, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		g, err := directoryGroup(ctx, tx, who.OrgID, in.ID)
		out = s.asGroup(g, in.Excluded)
		return err
	})
	return out, err
}

func directoryGroup(ctx context.Context, tx *store.Tx, org, id string) (store.DirectoryGroup, error) {
	if err := ground.WantUUID(id, noGroup); err != nil {
		return store.DirectoryGroup{}, err
	}
	found, err := tx.DirectoryGroups(ctx, org, "", id)
	if err != nil || len(found) == 1 {
		return append(found, store.DirectoryGroup{})[0], err
	}
	return store.DirectoryGroup{}, problem.Newf(problem.NotFound, noGroup)
}

// CreateDirectoryGroup makes a group.
func (s *Service) CreateDirectoryGroup(ctx context.Context, who coord.Caller, in wire.SCIMNew) (out wire.SCIMGroup, err error) {
	var want wire.SCIMGroup
	if err := scimDecode(in.Text, &want); err != nil {
		return out, err
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		return s.saveDirectoryGroup(ctx, c, store.DirectoryGroup{ID: ground.NewID()}, want, &out)
	})
	s.Forget(who.OrgID)
	return out, err
}

// PutDirectoryGroup makes a group what a directory says.
func (s *Service) PutDirectoryGroup(ctx context.Context, who coord.Caller, in wire.SCIMBody) (wire.SCIMGroup, error) {
	return s.changeDirectoryGroup(ctx, who, in.ID, func(wire.SCIMGroup) (want wire.SCIMGroup, err error) {
		return want, scimDecode(in.Text, &want)
	})
}

// PatchDirectoryGroup changes some of it.
func (s *Service) PatchDirectoryGroup(ctx context.Context, who coord.Caller, in wire.SCIMBody) (wire.SCIMGroup, error) {
	return s.changeDirectoryGroup(ctx, who, in.ID, func(have wire.SCIMGroup) (want wire.SCIMGroup, err error) {
		err = scimPatch(have, in.Text, &want)
		return want, err
	})
}

func (s *Service) changeDirectoryGroup(ctx context.Context, who coord.Caller, id string,
	change func(wire.SCIMGroup) (wire.SCIMGroup, error)) (out wire.SCIMGroup, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		now, err := directoryGroup(ctx, c.Tx, who.OrgID, id)
		if err != nil {
			return err
		}
		want, err := change(s.asGroup(now, ""))
		if err != nil {
			return err
		}
		return s.saveDirectoryGroup(ctx, c, now, want, &out)
	})
	s.Forget(who.OrgID)
	return out, err
}

// saveDirectoryGroup stores a group and gives those in it their roles.
func (s *Service) saveDirectoryGroup(ctx context.Context, c *ground.Change, now store.DirectoryGroup, want wire.SCIMGroup,
	out *wire.SCIMGroup) error {
	org := c.Who.OrgID
	name := strings.TrimSpace(want.DisplayName)
	if name == "" || len(name) > 200 || !coord.IsName(name) || len(want.ExternalID) > 200 || !coord.IsName(want.ExternalID) {
		return problem.InvalidField("displayName", "must be text that can be seen, at most 200 characters, and so must the externalId")
	}
	next := store.DirectoryGroup{ID: now.ID, Name: name, ExternalID: want.ExternalID}
	for _, m := range want.Members {
		if slices.ContainsFunc(next.Members, func(x store.DirectorySeat) bool { return x.UserID == m.Value }) {
			continue
		}
		if _, _, err := s.directoryUser(ctx, c.Tx, org, m.Value); err != nil {
			if problem.KindOf(err) == problem.NotFound {
				err = problem.InvalidField("members", "has somebody who is no user of this org")
			}
			return err
		}
		next.Members = append(next.Members, store.DirectorySeat{UserID: m.Value})
	}
	if err := c.SaveDirectoryGroup(ctx, org, next); err != nil {
		return err
	}
	if err := giveRoles(ctx, c, now, next); err != nil {
		return err
	}
	saved, err := directoryGroup(ctx, c.Tx, org, now.ID)
	*out = s.asGroup(saved, "")
	return err
}

// giveRoles gives the people whom a change of a group touches the roles that
// their groups make of them now.
func giveRoles(ctx context.Context, c *ground.Change, was, is store.DirectoryGroup) error {
	if groupRole(was.Name) == "" && groupRole(is.Name) == "" {
		return nil
	}
	in := func(g store.DirectoryGroup, user string) bool {
		return groupRole(g.Name) != "" && slices.ContainsFunc(g.Members, func(m store.DirectorySeat) bool { return m.UserID == user })
	}
	for _, m := range slices.Concat(was.Members, is.Members) {
		if in(was, m.UserID) && in(is, m.UserID) && groupRole(was.Name) == groupRole(is.Name) {
			continue
		}
		if err := giveRole(ctx, c, m.UserID); err != nil {
			return err
		}
	}
	return nil
}

// giveRole makes a member what their groups say. Nobody is taken the role of an
// owner: somebody must be able to mend a directory that went wrong.
func giveRole(ctx context.Context, c *ground.Change, user string) error {
	org := c.Who.OrgID
	m, err := c.Member(ctx, org, user)
	if problem.KindOf(err) == problem.NotFound {
		return nil // deactivated; it counts when they come back
	}
	if err != nil {
		return err
	}
	role, err := directoryRole(ctx, c.Tx, org, user)
	if err != nil || role == m.Role || m.Role == coord.Owner {
		return err
	}
	return ground.FirstError(c.SetRole(ctx, org, user, role), ground.Tell(ctx, c.Tx, c.Who, coord.EventMemberUpdated, user, "",
		wire.MemberUpdatedPayload{Role: role, PreviousRole: m.Role, By: "directory"}))
}

// DeleteDirectoryGroup removes a group and the roles that it gave.
func (s *Service) DeleteDirectoryGroup(ctx context.Context, who coord.Caller, in wire.SCIMID) (out wire.None, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		now, err := directoryGroup(ctx, c.Tx, who.OrgID, in.ID)
		if err != nil {
			return err
		}
		if err := c.DeleteDirectoryGroup(ctx, in.ID); err != nil {
			return err
		}
		return giveRoles(ctx, c, now, store.DirectoryGroup{})
	})
	s.Forget(who.OrgID)
	return out, err
}
