package store_test

import (
	"context"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A table with rows of repos that a merge does not know of would keep the
// merged record from being deleted, or lose what is in it.
func TestAMergeKnowsEveryTableOfRepos(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		query := `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'repo_id'
			ORDER BY m.name`
		if st.Name() == "postgres" {
			query = `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'repo_id'
				ORDER BY table_name`
		}
		var found []string
		err := st.Read(context.Background(), func(tx *store.Tx) error {
			found = nil
			rows, err := tx.QueryContext(context.Background(), query)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var name string
				if err := rows.Scan(&name); err != nil {
					return err
				}
				found = append(found, name)
			}
			return rows.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		known := store.RepoTables()
		slices.Sort(known)
		slices.Sort(found)
		if !slices.Equal(known, found) {
			t.Errorf("tables with a repo_id: %v\nrepoTables has: %v", found, known)
		}
	})
}
