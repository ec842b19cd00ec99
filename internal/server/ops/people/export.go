package people

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// What one answer holds at most. Who has more is exported on the server's
// machine, line by line.
const (
	mostExported  = 20_000   // records
	largestExport = 16 << 20 // bytes, about
)

// perExports is how often a person may: each reads much of the database.
var perExports = store.PerWindow(10, time.Hour)

// ExportMember gives an owner what their org stores about one of its people:
// nothing of other orgs, nothing that they wrote to single people, and not what
// they sign in with.
func (s *Service) ExportMember(ctx context.Context, who coord.Caller, in wire.MemberID) (wire.PersonExport, error) {
	return s.export(ctx, who, in.UserID)
}

// ExportMe gives somebody all that the org stores about them, and their account.
func (s *Service) ExportMe(ctx context.Context, who coord.Caller, _ wire.None) (wire.PersonExport, error) {
	return s.export(ctx, who, who.UserID)
}

// export is told in the audit log whoever asks, themselves too: what an org knows leaves it.
func (s *Service) export(ctx context.Context, who coord.Caller, user string) (out wire.PersonExport, err error) {
	if err := s.limit(ctx, "export:"+who.UserID, perExports, "several people were exported of late; wait a little"); err != nil {
		return out, err
	}
	out.Rows = []wire.ExportedRow{}
	size := 0
	err = s.Read(ctx, func(tx *store.Tx) error {
		if user != who.UserID {
			if _, err := s.managed(ctx, tx, who, user); err != nil {
				return err
			}
		}
		return tx.ExportMember(ctx, who.OrgID, user, user == who.UserID, func(r store.Exported) error {
			if size += r.Size(); len(out.Rows) == mostExported || size > largestExport {
				return problem.Newf(problem.Conflict,
					"there is more than one download holds; the server's administrator can export it: svcd user export")
			}
			out.Rows = append(out.Rows, wire.ExportedRow(r))
			return nil
		})
	})
	if err == nil {
		err = s.Write(ctx, who, func(tx *store.Tx) error {
			return ground.Tell(ctx, tx, who, coord.EventMemberUpdated, user, "", wire.MemberUpdatedPayload{Account: "exported"})
		})
	}
	if err != nil {
		out.Rows = nil
	}
	return out, err
}

// ExportUser calls fn with each row about a person.
func (s *Service) ExportUser(ctx context.Context, email string, fn func(store.Exported) error) error {
	a, err := s.accountOf(ctx, email)
	if err != nil {
		return err
	}
	return s.Read(ctx, func(tx *store.Tx) error { return tx.ExportPerson(ctx, a.ID, fn) })
}

// ExportOrg calls fn with each row of an org.
func (s *Service) ExportOrg(ctx context.Context, slug string, fn func(store.Exported) error) error {
	id, err := s.orgBySlug(ctx, slug)
	if err != nil {
		return err
	}
	return s.Read(ctx, func(tx *store.Tx) error { return tx.ExportOrg(ctx, id, fn) })
}
