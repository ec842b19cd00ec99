package references

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// What stands before a route is found however many other files there are: those
// that cannot say it do not count.
func TestPrefixesAreFoundInACrowd(t *testing.T) {
	for _, tt := range []struct {
		name, other, file string
		tree              inMemory
		want              string
	}{
		{"who includes a router of Python", "a/other%03d.py", "svc/users.py", inMemory{
			"svc/users.py": "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/users')\ndef users():\n    return []\n",
			"web/wire.py":  "from fastapi import FastAPI\nfrom svc import users\napp = FastAPI()\napp.include_router(users.router, prefix='/v1')\n",
		}, "http:GET /v1/users"},
		{"who mounts an API of Grape", "a/other%03d.rb", "svc/users.rb", inMemory{
			"svc/users.rb": "class Users < Grape::API\n  get '/users' do\n    []\n  end\nend\n",
			"web/wire.rb":  "class Root < Grape::API\n  mount Users => '/v1'\nend\n",
		}, "http:GET /v1/users"},
		{"who hands a router to a function of Go", "a/other%03d.go", "svc/users.go", inMemory{
			"go.mod": "module x\n",
			"svc/users.go": "package svc\n\nimport \"github.com/gin-gonic/gin\"\n\n" +
				"func Register(r *gin.RouterGroup) {\n\tr.GET(\"/users\", users)\n}\n",
			"web/wire.go": "package web\n\nimport (\n\t\"github.com/gin-gonic/gin\"\n\t\"x/svc\"\n)\n\n" +
				"func Wire() {\n\te := gin.New()\n\tsvc.Register(e.Group(\"/v1\"))\n}\n",
		}, "http:GET /v1/users"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := maps.Clone(tt.tree)
			for i := range 450 {
				tree[fmt.Sprintf(tt.other, i)] = "x = 1\n"
				if strings.HasSuffix(tt.other, ".go") {
					tree[fmt.Sprintf(tt.other, i)] = "package a\n"
				}
			}
			r := Open(tree, false)
			v, err := r.Read(tt.file, func() ([]byte, error) { return tree.Read(tt.file), nil })
			if err != nil {
				return // a build without C reads nothing of it
			}
			r.Complete(tt.file, v)
			var keys []string
			for _, c := range v.Contracts {
				keys = append(keys, c.Key)
			}
			if !slices.Contains(keys, tt.want) {
				t.Errorf("found %v, want %s", keys, tt.want)
			}
		})
	}
}

// Where a file is mounted does not depend on which file was asked for first: a
// chain of mounts that is longer than one look goes is the same from both ends.
func TestMountsDoNotDependOnTheOrderOfFiles(t *testing.T) {
	tree := inMemory{}
	const deep = 7
	for i := range deep {
		text := "const express = require('express')\nconst router = express.Router()\n"
		text += fmt.Sprintf("router.get('/leaf%d', (q, s) => s.json([]))\n", i)
		if i > 0 {
			text += fmt.Sprintf("router.use('/m%d', require('../f%d/index'))\n", i-1, i-1)
		}
		tree[fmt.Sprintf("f%d/index.js", i)] = text + "module.exports = router\n"
	}
	keysOf := func(order []string) map[string][]string {
		r, out := Open(tree, false), map[string][]string{}
		for _, file := range order {
			v, err := r.Read(file, func() ([]byte, error) { return tree.Read(file), nil })
			if err != nil {
				continue
			}
			r.Complete(file, v)
			for _, c := range v.Contracts {
				out[file] = append(out[file], c.Key)
			}
		}
		return out
	}
	files := slices.Sorted(maps.Keys(tree))
	forward := keysOf(files)
	slices.Reverse(files)
	for file, keys := range keysOf(files) {
		if !slices.Equal(keys, forward[file]) {
			t.Errorf("%s: %v one way, %v the other", file, forward[file], keys)
		}
	}
}
