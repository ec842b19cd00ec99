package ground

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every address that we give is one that the dashboard serves.
func TestTheDashboardKnowsThePages(t *testing.T) {
	text, err := os.ReadFile("../../../../web/src/pages.json")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	if err := json.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	s := &Ground{Config: Config{PublicURL: "https://svc.example"}}
	all := []string{s.ContractURL("http:GET /a", "acme/api")}
	for kind := range pages {
		all = append(all, s.PageURL(kind, "acme/x y"))
	}
	for _, address := range all {
		path := strings.TrimPrefix(address, "https://svc.example/")
		first := path[:strings.IndexAny(path+"/", "/?")]
		if !slices.Contains(known, first) || strings.Contains(address, " ") {
			t.Errorf("%s is no page of the dashboard", address)
		}
	}
}
