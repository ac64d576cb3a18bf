package docker_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	pageLink  = regexp.MustCompile(`\]\(([^)#: ]+)[)#]`)
)

// TestReleaseDocs checks that every link of the pages in a release leads to a file of the release.
func TestReleaseDocs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("releases are built on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "../scripts/release-docs.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	links := 0
	err := filepath.WalkDir(dir, func(page string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		for _, m := range pageLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(readFile(t, page), ""), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not in the release", strings.TrimPrefix(page, dir+"/"), m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 100 {
		t.Errorf("%d links in the pages of the release", links)
	}
}
