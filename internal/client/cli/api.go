package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/peertext"
)

func apiCommand(a *app.Run) *cobra.Command {
	var fields []string
	var input, filter string
	var paginate bool
	cmd := &cobra.Command{
		Use:   "api [METHOD] PATH",
		Short: "Make any request of the API",
		Long: "Make any request of the API with your login and print the answer. Fields go into\n" +
			"the query of a GET and into the body otherwise; name=value is text, name:=value\n" +
			"is JSON. --jq picks from the answer as jq does.",
		Example: "  svc api /v1/intents -f status=live --jq '.items[].ref'\n" +
			"  svc api POST /v1/messages -f to=channel:team -f body='Freezing main'\n" +
			"  svc api /v1/events --paginate --jq '.items[].type'",
		RunE: func(cmd *cobra.Command, args []string) error {
			method, path := "GET", ""
			switch len(args) {
			case 1:
				path = args[0]
			case 2:
				method, path = strings.ToUpper(args[0]), args[1]
			default:
				return term.Usagef("expected a path, or a method and a path")
			}
			if !strings.HasPrefix(path, "/") {
				path = "/v1/" + path
			}
			return runAPI(cmd.Context(), a, method, path, fields, input, filter, paginate)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVarP(&fields, "field", "f", nil, "name=text or name:=JSON; may be repeated")
	fs.StringVar(&input, "input", "", "the body, from a file; - for standard input")
	fs.StringVarP(&filter, "jq", "q", "", "pick from the answer, as jq does")
	fs.BoolVar(&paginate, "paginate", false, "ask for all pages of a list")
	return cmd
}

func runAPI(ctx context.Context, a *app.Run, method, path string, fields []string, input, filter string, paginate bool) error {
	var pick term.Filter
	if filter != "" {
		compiled, err := term.CompileFilter(filter)
		if err != nil {
			return err
		}
		pick = compiled
	}
	body, path, err := requestOf(a, method, path, fields, input)
	if err != nil {
		return err
	}
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	for {
		out, err := c.Raw(ctx, method, path, body)
		if err != nil {
			return err
		}
		if len(out) > 0 {
			if err := printPicked(ctx, a, out, pick); err != nil {
				return err
			}
		}
		if !paginate {
			return nil
		}
		var page struct {
			Next *string `json:"next_cursor"`
		}
		if json.Unmarshal(out, &page) != nil || page.Next == nil {
			return nil
		}
		u, err := url.Parse(path)
		if err != nil {
			return err
		}
		q := u.Query()
		q.Set("cursor", *page.Next)
		u.RawQuery = q.Encode()
		path = u.String()
	}
}

// requestOf puts the fields where the method wants them.
func requestOf(a *app.Run, method, path string, fields []string, input string) (body any, at string, err error) {
	values := map[string]any{}
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok || name == "" {
			return nil, path, term.Usagef("%q is not a field such as name=value", f)
		}
		if raw, isJSON := strings.CutSuffix(name, ":"); isJSON {
			var v any
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				return nil, path, term.Usagef("the field %s is not JSON: %v", raw, err)
			}
			values[raw] = v
			continue
		}
		values[name] = value
	}
	if input != "" {
		data, err := read(a, input)
		if err != nil {
			return nil, path, err
		}
		if !json.Valid(data) {
			return nil, path, term.Usagef("%s is not JSON", input)
		}
		return json.RawMessage(data), path, nil
	}
	if method != "GET" && method != "DELETE" {
		return values, path, nil
	}
	if len(values) == 0 {
		return nil, path, nil
	}
	u, err := url.Parse(path)
	if err != nil {
		return nil, path, term.Usagef("%q is not a path", path)
	}
	q := u.Query()
	for name, v := range values {
		q.Set(name, fmt.Sprint(v))
	}
	u.RawQuery = q.Encode()
	return nil, u.String(), nil
}

// printPicked prints an answer, or what the filter picks of it: text bare,
// everything else as JSON.
func printPicked(ctx context.Context, a *app.Run, out json.RawMessage, pick term.Filter) error {
	if pick == nil {
		return a.PrintJSON(out)
	}
	var v any
	if err := json.Unmarshal(out, &v); err != nil {
		return &remote.Unreachable{Detail: "the server sent a reply that is not JSON"}
	}
	return pick(ctx, v, func(x any) error {
		if s, isText := x.(string); isText {
			_, err := fmt.Fprintln(a.Stdout, term.Whole(s))
			return err
		}
		line, err := json.Marshal(x)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s\n", peertext.EscapeHidden(line))
		return err
	})
}

// read returns the content of a file, or of standard input for "-".
func read(a *app.Run, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.Stdin, 10<<20))
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.Dir, name)
	}
	data, err := os.ReadFile(name)
	return bytes.TrimSpace(data), err
}
