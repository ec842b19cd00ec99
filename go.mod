module github.com/svc-hq/svc

go 1.26.0
