// Command rulesdata writes the rules as the svc that is installed has them.
// .ci/build-svc runs it.
package main

import (
	"log"
	"os"

	"github.com/svc-hq/svc/internal/client/rules"
)

func main() {
	data, err := rules.Pack()
	if err == nil {
		_, err = os.Stdout.Write(data)
	}
	if err != nil {
		log.Fatal(err)
	}
}
