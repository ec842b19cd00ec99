// Clients calls a running service with the client that oapi-codegen made of
// the API's document: .ci/clients/run puts it beside this file, as package
// svcapi, and never commits it.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"svc.internal/clients/svcapi"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "the generated Go client:", err)
		os.Exit(1)
	}
	fmt.Println("the generated Go client declares, lists and is refused")
}

func run(ctx context.Context) error {
	c, err := svcapi.NewClientWithResponses(os.Getenv("SVC_SERVER"), svcapi.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
		return nil
	}))
	if err != nil {
		return err
	}
	repo, err := c.PostReposWithResponse(ctx, &svcapi.PostReposParams{}, svcapi.PostReposJSONRequestBody{FullName: "acme/go"})
	if err != nil || repo.JSON201 == nil {
		return fmt.Errorf("registering a repo: %v %v", err, repo.Body)
	}
	name := repo.JSON201.FullName
	made, err := c.PostIntentsWithResponse(ctx, &svcapi.PostIntentsParams{}, svcapi.PostIntentsJSONRequestBody{Title: "From Go", Repo: &name})
	if err != nil || made.JSON201 == nil {
		return fmt.Errorf("declaring: %v %s", err, made.Body)
	}
	list, err := c.GetIntentsWithResponse(ctx, &svcapi.GetIntentsParams{Repo: &name})
	if err != nil || list.JSON200 == nil || len(list.JSON200.Items) != 1 || list.JSON200.Items[0].Title != "From Go" {
		return fmt.Errorf("listing: %v %s", err, list.Body)
	}
	cursor := "of-another-list"
	wrong, err := c.GetIntentsWithResponse(ctx, &svcapi.GetIntentsParams{Cursor: &cursor})
	if err != nil || wrong.ApplicationproblemJSON400 == nil || wrong.ApplicationproblemJSON400.Status != http.StatusBadRequest {
		return fmt.Errorf("a wrong cursor: %v %s", err, wrong.Body)
	}
	return nil
}
