package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkStartUp compares what svc --version costs with a program that only
// says hello: agents start svc for every edit. Both run in turn, so that a
// busy machine slows both. svc is what make build makes.
func BenchmarkStartUp(b *testing.B) {
	const most = 1.5
	dir := b.TempDir()
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"hello\\n\") }\n"),
		0o600); err != nil {
		b.Fatal(err)
	}
	programs := [][]string{{filepath.Join(dir, "hello")}, {filepath.Join(dir, "svc"), "--version"}}
	for _, build := range [][]string{{"env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", programs[0][0], hello},
		{"../../.ci/build-svc", programs[1][0], "-trimpath", "-ldflags=-s -w"}} {
		if out, err := exec.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	const runs = 200
	for b.Loop() {
		var took [2][]time.Duration
		for range runs {
			for i, p := range programs {
				cmd := exec.Command(p[0], p[1:]...)
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				took[i] = append(took[i], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			}
		}
		median := func(ds []time.Duration) float64 { slices.Sort(ds); return float64(ds[len(ds)/2].Microseconds()) }
		base, svc := median(took[0]), median(took[1])
		b.ReportMetric(base, "hello-µs")
		b.ReportMetric(svc, "svc-µs")
		b.ReportMetric(svc/base, "ratio")
		if svc/base > most {
			b.Errorf("svc --version costs %.2f times a hello world (%.0f µs against %.0f), want at most %.1f", svc/base, svc, base, most)
		}
	}
}
