// Openapi prints the API's document, as svcd openapi does: the dashboard's
// types are made of it before svcd, which has the dashboard inside, can be.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/server/api"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(api.New(nil).Document(version.Version, "/")); err != nil {
		log.Fatal(err)
	}
}
