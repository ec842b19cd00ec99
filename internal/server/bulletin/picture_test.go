package bulletin_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/bulletin"
)

func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
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

// picture shows a page in a window of a width and returns what is seen.
func picture(t *testing.T, chromium, html string, width int) image.Image {
	t.Helper()
	dir := t.TempDir()
	page, shot := filepath.Join(dir, "page.html"), filepath.Join(dir, "shot.png")
	if err := os.WriteFile(page, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking",
		"--no-first-run", "--user-data-dir="+filepath.Join(dir, "profile"), fmt.Sprintf("--window-size=%d,1100", width), "--screenshot="+shot, "file://"+page).CombinedOutput()
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
		os.WriteFile(filepath.Join(keep, fmt.Sprintf("%s-%d.png", filepath.Base(t.Name()), width)), data, 0o644)
	}
	return img
}

var (
	ground = color.RGBA{0xf4, 0xf5, 0xf7, 0xff}
	card   = color.RGBA{0xff, 0xff, 0xff, 0xff}
	button = color.RGBA{0x1f, 0x5f, 0xd6, 0xff}
	ink    = color.RGBA{0x1c, 0x24, 0x30, 0xff}
)

// share returns which part of a region has a colour.
func share(img image.Image, r image.Rectangle, c color.RGBA) float64 {
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
	for name, html := range map[string]string{"digest-busy": bulletin.Digest(busy()).HTML, "digest-calm": bulletin.Digest(calm()).HTML, "invite": bulletin.Invite(invitation("Ana")).HTML,
		"webhook-disabled": bulletin.WebhookDisabled(disabled()).HTML} {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int{800, 500} {
				img := picture(t, chromium, html, width)
				b := img.Bounds()
				if b.Dx() != width {
					t.Fatalf("the picture is %d wide, want %d", b.Dx(), width)
				}
				// A page wider than its window would push the card over the edge.
				for side, edge := range map[string]image.Rectangle{"left": image.Rect(0, 0, 8, 400), "right": image.Rect(width-8, 0, width, 400)} {
					if got := share(img, edge, ground); got < 0.999 {
						t.Errorf("width %d: the %s margin is %.0f%% background: something sticks out", width, side, 100*got)
					}
				}
				middle := image.Rect(30, 40, width-30, 400)
				if got := share(img, middle, card); got < 0.3 {
					t.Errorf("width %d: the card is %.0f%% white", width, 100*got)
				}
				if share(img, b, button) == 0 || share(img, middle, ink) == 0 {
					t.Errorf("width %d: no button or no text is to be seen", width)
				}
			}
		})
	}
}
