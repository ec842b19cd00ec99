package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/join"
)

// What every service has, and what most shops and offices call their things.
var (
	everybody = strings.Fields(`GET:/health GET:/metrics POST:/login POST:/logout GET:/users POST:/users GET:/users/{} GET:/version
		GET:/search`)
	business = strings.Fields(`orders items products payments invoices customers tasks projects comments tags reports events messages
		bookings rooms courses lessons patients visits recipes albums tracks teams matches tickets devices sensors readings shipments
		vehicles trips books loans jobs candidates surveys answers plants beds pets adoptions`)
)

// a service is a made program: routes, and pages or scripts that call them.
type service struct {
	name   string
	routes []string // METHOD:/path
}

func services(r *rand.Rand, n int) (out []service) {
	for i := range n {
		s := service{name: fmt.Sprintf("made/service%d", i), routes: append([]string{}, everybody...)}
		for range 5 {
			thing := business[r.IntN(len(business))]
			s.routes = append(s.routes, "GET:/"+thing, "POST:/"+thing, "GET:/"+thing+"/{}", "DELETE:/"+thing+"/{}")
		}
		out = append(out, s)
	}
	return out
}

// caller is a program's own client of its routes, in one of four idioms by turns.
func (s service) caller(i int) (name, text string) {
	var b strings.Builder
	idiom := i % 4
	b.WriteString([]string{
		"const request = (path, options) => fetch(process.env.BASE + path, options);\n",
		"import axios from 'axios';\nconst http = axios.create({ baseURL: process.env.BASE });\n",
		"import os, requests\nBASE = os.environ['BASE']\n",
		"import retrofit2.http.*\ninterface Api {\n",
	}[idiom])
	for n, r := range s.routes {
		method, path, _ := strings.Cut(r, ":")
		low := strings.ToLower(method)
		switch idiom {
		case 0:
			filled := strings.ReplaceAll(path, "{}", "${id}")
			fmt.Fprintf(&b, "export const call%d = (id) => request(`%s`, { method: '%s' });\n", n, filled, method)
		case 1:
			fmt.Fprintf(&b, "export const call%d = (id) => http.%s(`%s`);\n", n, low, strings.ReplaceAll(path, "{}", "${id}"))
		case 2:
			fmt.Fprintf(&b, "def call%d(id):\n    return requests.%s(f\"{BASE}%s\")\n", n, low, strings.ReplaceAll(path, "{}", "{id}"))
		case 3:
			fmt.Fprintf(&b, "  @%s(\"%s\")\n  suspend fun call%d(@Path(\"id\") id: String): Reply%d\n",
				method, strings.ReplaceAll(path[1:], "{}", "{id}"), n, n)
		}
	}
	if idiom == 3 {
		b.WriteString("}\n")
	}
	return []string{"web/api.js", "web/api.ts", "jobs/api.py", "android/Api.kt"}[idiom], b.String()
}

// files are a service's sources, in one of nine stacks by turns.
func (s service) files(i int) map[string]string {
	var server strings.Builder
	stack := i % 9
	head := []string{
		"const app = require('express')();\n",
		"from fastapi import FastAPI\napp = FastAPI()\n",
		"package main\n\nimport \"github.com/gin-gonic/gin\"\n\nfunc main() {\n\tr := gin.Default()\n",
		"from flask import Flask\napp = Flask(__name__)\n",
		"package main\n\nimport \"net/http\"\n\nfunc main() {\n\tmux := http.NewServeMux()\n",
		"Rails.application.routes.draw do\n",
		"import org.springframework.web.bind.annotation.*;\n\n@RestController\nclass Api {\n",
		"<?php\nuse Illuminate\\Support\\Facades\\Route;\n",
		"import { Controller, Get, Post, Delete } from '@nestjs/common';\n\n@Controller()\nexport class Api {\n",
	}[stack]
	server.WriteString(head)
	for n, r := range s.routes {
		method, path, _ := strings.Cut(r, ":")
		low := strings.ToLower(method)
		braces, colon := strings.ReplaceAll(path, "{}", "{id}"), strings.ReplaceAll(path, "{}", ":id")
		switch stack {
		case 0:
			fmt.Fprintf(&server, "app.%s('%s', (req, res) => res.json({}));\n", low, colon)
		case 1:
			fmt.Fprintf(&server, "@app.%s(\"%s\")\ndef f%d():\n    return {}\n", low, braces, n)
		case 2:
			fmt.Fprintf(&server, "\tr.%s(\"%s\", handle)\n", method, colon)
		case 3:
			angles := strings.ReplaceAll(path, "{}", "<id>")
			fmt.Fprintf(&server, "@app.route('%s', methods=['%s'])\ndef f%d():\n    return {}\n", angles, method, n)
		case 4:
			fmt.Fprintf(&server, "\tmux.HandleFunc(\"%s %s\", handle)\n", method, braces)
		case 5:
			fmt.Fprintf(&server, "  %s '%s', to: 'things#a%d'\n", low, colon, n)
		case 6:
			verb := method[:1] + low[1:]
			fmt.Fprintf(&server, "  @%sMapping(\"%s\")\n  public Reply%d a%d() { return null; }\n", verb, braces, n, n)
		case 7:
			fmt.Fprintf(&server, "Route::%s('%s', [Things::class, 'a%d']);\n", low, braces, n)
		case 8:
			fmt.Fprintf(&server, "  @%s('%s')\n  a%d() { return {} }\n", method[:1]+low[1:], colon[1:], n)
		}
	}
	server.WriteString([]string{"", "", "}\n", "", "}\n", "end\n", "}\n", "", "}\n"}[stack])
	name := []string{"server.js", "main.py", "main.go", "app.py", "main.go", "config/routes.rb", "Api.java", "routes/web.php",
		"api.controller.ts"}[stack]
	calls, client := s.caller(i)
	return map[string]string{
		name:         server.String(),
		calls:        client,
		"web/app.js": "router.push('/users'); router.push('/login'); router.push('/orders'); router.push('/tasks/new');\n",
	}
}

func commit(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
}

// TestServicesThatHaveNothingToDoWithEachOther: twenty programs of one org, each
// with its own server and its own pages, share what all services have and some
// names of things. None is told as surely another's user, and of the calls that
// are read at most one in fifty is told as probably one.
func TestServicesThatHaveNothingToDoWithEachOther(t *testing.T) {
	for seed := range uint64(2) {
		made := services(rand.New(rand.NewPCG(seed, 1)), 20)
		s := &score{ctx: context.Background(), mirrors: t.TempDir(), read: map[string][]found{}, texts: map[string]map[string][]coord.Candidate{}}
		org, calls := join.NewOrg(), 0
		for i, m := range made {
			dir := filepath.Join(s.mirrors, m.name+".git")
			commit(t, dir, m.files(i))
			if err := s.put(org, m.name); err != nil {
				t.Fatal(err)
			}
			at, _ := m.caller(i)
			calls += len(s.texts[m.name][at])
			routes := 0
			for _, f := range s.read[m.name+"@HEAD"] {
				if f.Role == coord.Provides {
					routes++
				}
			}
			if routes < len(everybody) {
				t.Fatalf("of %s only %d routes are seen", m.name, routes)
			}
		}
		if calls < 20*len(made) {
			t.Fatalf("only %d calls are seen", calls)
		}
		var said [3]int
		for _, provider := range made {
			for _, user := range made {
				if provider.name == user.name {
					continue
				}
				for _, told := range s.told(org, provider.name, user.name) {
					if said[told.sure]++; told.sure == join.Sure {
						t.Errorf("seed %d: %s:%d of %s is told as surely a use of %s of %s", seed, told.file, told.line, user.name, told.key,
							provider.name)
					}
				}
			}
		}
		if pairs := calls * (len(made) - 1); said[join.Probably]*50 > pairs {
			t.Errorf("seed %d: %d of %d calls, held against every other program, are told as probable", seed, said[join.Probably], pairs)
		}
		t.Logf("seed %d: %d calls, %d told as probable", seed, calls, said[join.Probably])
	}
}

// TestAClientAmongServicesThatHaveNothingToDoWithIt is the other half: what does
// use one of the twenty is told, and as that one's.
func TestAClientAmongServicesThatHaveNothingToDoWithIt(t *testing.T) {
	made := services(rand.New(rand.NewPCG(7, 1)), 20)
	s := &score{ctx: context.Background(), mirrors: t.TempDir(), read: map[string][]found{}, texts: map[string]map[string][]coord.Candidate{}}
	org := join.NewOrg()
	for i, m := range made {
		commit(t, filepath.Join(s.mirrors, m.name+".git"), m.files(i))
		if err := s.put(org, m.name); err != nil {
			t.Fatal(err)
		}
	}
	var client strings.Builder
	for n, r := range made[3].routes {
		method, path, _ := strings.Cut(r, ":")
		fmt.Fprintf(&client, "def call%d(self, id):\n    return self._send(\"%s\", f\"%s\")\n", n, method, path)
	}
	commit(t, filepath.Join(s.mirrors, "made/client.git"), map[string]string{"client.py": client.String()})
	if err := s.put(org, "made/client"); err != nil {
		t.Fatal(err)
	}
	right := map[string]bool{}
	for _, provider := range made {
		for _, told := range s.told(org, provider.name, "made/client") {
			switch {
			case provider.name == made[3].name:
				right[told.key] = true
			case told.sure == join.Sure:
				t.Errorf("%s:%d is told as surely a use of %s of %s", told.file, told.line, told.key, provider.name)
			}
		}
	}
	for _, r := range made[3].routes[len(everybody):] {
		if key := "http:" + strings.Replace(r, ":", " ", 1); !right[key] {
			t.Errorf("%s is used, and not told", key)
		}
	}
}
