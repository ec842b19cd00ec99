module github.com/svc-hq/svc

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/uuid v1.6.0
	golang.org/x/mod v0.42.0
)
