// Openapi prints the API's document, as svcd openapi does: the dashboard's
// types are made of it before svcd, which has the dashboard inside, can be.
// With -clients it prints the part that the clients are made of (make clients).
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/server/api"
)

// orchestrating are the operations that programs which start agents need.
var orchestrating = []string{
	"postRepos", "postIntents", "getIntents", "getSessions", "getReposByRepoLanding", "postIntentsByRefClose",
}

func main() {
	out, err := document(len(os.Args) > 1 && os.Args[1] == "-clients")
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func document(clients bool) ([]byte, error) {
	all, err := json.Marshal(api.New(nil).Document(version.Version, "/"))
	if err != nil || !clients {
		return append(all, '\n'), err
	}
	return subset(all, orchestrating)
}
