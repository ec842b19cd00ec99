//go:build race

package notify_test

// burst is how many events the burst has. The race detector makes every one
// of them ten times as dear; whether it is in time is told without it.
const burst = 50
