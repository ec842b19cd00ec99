module github.com/svc-hq/svc

go 1.26.0

require mvdan.cc/sh/v3 v3.14.1

require golang.org/x/tools v0.52.0
