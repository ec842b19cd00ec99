//go:build !race

package notify_test

// burst is how many events the burst has.
const burst = 1000
