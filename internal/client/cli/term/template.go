package term

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"
)

// CompileTemplate makes a printer of a Go template. It sees what --json prints,
// under the same names.
func CompileTemplate(text string) (Template, error) {
	t, err := template.New("--template").Option("missingkey=error").Funcs(template.FuncMap{
		"join": func(sep string, list []any) string {
			words := make([]string, len(list))
			for i, v := range list {
				words[i] = fmt.Sprint(v)
			}
			return strings.Join(words, sep)
		},
		"json": func(v any) (string, error) {
			out, err := json.Marshal(v)
			return string(out), err
		},
	}).Parse(text)
	if err != nil {
		return nil, Usagef("%v", strings.TrimPrefix(err.Error(), "template: "))
	}
	return func(w io.Writer, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		var named any
		if err := json.Unmarshal(data, &named); err != nil {
			return err
		}
		var b strings.Builder
		if err := t.Execute(&b, cleaned(named)); err != nil {
			return Usagef("%v", strings.TrimPrefix(err.Error(), "template: "))
		}
		out := b.String()
		if !strings.HasSuffix(out, "\n") && out != "" {
			out += "\n"
		}
		_, err = io.WriteString(w, out)
		return err
	}, nil
}

// cleaned is a value whose texts cannot steer a terminal.
func cleaned(v any) any {
	switch x := v.(type) {
	case string:
		return Whole(x)
	case []any:
		for i := range x {
			x[i] = cleaned(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = cleaned(x[k])
		}
	case float64:
		if x == float64(int64(x)) {
			return int64(x)
		}
	}
	return v
}
