package bulletin_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/bulletin"
)

func browser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short tests use no browser; make test does")
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no Chromium to take pictures with; install the package chromium")
	}
	t.Skip("no Chromium to take pictures with; install the package chromium")
	return ""
}

// height is how much of a page is looked at.
const height = 1100

// pictures shows pages, each in a window of a width, and returns what is seen
// of them. One start of the browser does for all: it is what takes long.
func pictures(t *testing.T, chromium string, pages map[string]string, width int) map[string]image.Image {
	t.Helper()
	dir := t.TempDir()
	names := slices.Sorted(maps.Keys(pages))
	frames := "<!doctype html><style>*{margin:0;border:0}iframe{display:block}</style>"
	for _, name := range names {
		writeFile(t, filepath.Join(dir, name+".html"), pages[name])
		frames += fmt.Sprintf(`<iframe src="%s.html" width="%d" height="%d"></iframe>`, name, width, height)
	}
	page, shot := filepath.Join(dir, "page.html"), filepath.Join(dir, "shot.png")
	writeFile(t, page, frames)
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--disable-background-networking",
		"--no-first-run", "--user-data-dir="+filepath.Join(dir, "profile"), fmt.Sprintf("--window-size=%d,%d", width, height*len(names)),
		"--screenshot="+shot, "file://"+page).CombinedOutput()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if keep := os.Getenv("SVC_TEST_PICTURES"); keep != "" {
		data, _ := os.ReadFile(shot)
		os.WriteFile(filepath.Join(keep, fmt.Sprintf("mails-%d.png", width)), data, 0o644)
	}
	if b := img.Bounds(); b.Dx() != width || b.Dy() != height*len(names) {
		t.Fatalf("the picture is %v, want it %d wide and %d high", b, width, height*len(names))
	}
	parts := img.(interface {
		SubImage(image.Rectangle) image.Image
	})
	seen := map[string]image.Image{}
	for i, name := range names {
		seen[name] = parts.SubImage(image.Rect(0, i*height, width, (i+1)*height))
	}
	return seen
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var (
	ground = color.RGBA{0xf4, 0xf5, 0xf7, 0xff}
	card   = color.RGBA{0xff, 0xff, 0xff, 0xff}
	button = color.RGBA{0x1f, 0x5f, 0xd6, 0xff}
	ink    = color.RGBA{0x1c, 0x24, 0x30, 0xff}
)

// share returns which part of a region has a colour. The region is relative to
// the picture's corner.
func share(img image.Image, r image.Rectangle, c color.RGBA) float64 {
	r = r.Add(img.Bounds().Min)
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == color.Color(c) {
				n++
			}
		}
	}
	return float64(n) / float64(r.Dx()*r.Dy())
}

func TestMailsLookRight(t *testing.T) {
	chromium := browser(t)
	mails := map[string]string{
		"digest-busy":      bulletin.Digest(busy()).HTML,
		"digest-calm":      bulletin.Digest(calm()).HTML,
		"invite":           bulletin.Invite(invitation("Ana")).HTML,
		"webhook-disabled": bulletin.WebhookDisabled(disabled()).HTML,
	}
	for _, width := range []int{800, 500} {
		for name, img := range pictures(t, chromium, mails, width) {
			t.Run(fmt.Sprintf("%s %d wide", name, width), func(t *testing.T) {
				// A page wider than its window would push the card over the edge.
				for side, edge := range map[string]image.Rectangle{"left": image.Rect(0, 0, 8, 400), "right": image.Rect(width-8, 0, width, 400)} {
					if got := share(img, edge, ground); got < 0.999 {
						t.Errorf("the %s margin is %.0f%% background: something sticks out", side, 100*got)
					}
				}
				middle := image.Rect(30, 40, width-30, 400)
				if got := share(img, middle, card); got < 0.3 {
					t.Errorf("the card is %.0f%% white", 100*got)
				}
				if share(img, image.Rect(0, 0, width, height), button) == 0 || share(img, middle, ink) == 0 {
					t.Error("no button or no text is to be seen")
				}
			})
		}
	}
}
