package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"daawo/supabase/internal/base/tempdir"
)

// BuildBundle compiles the functions of the project in root, the folder of go.mod, into a program
// that a Deployer runs. goos and goarch are those of the server. The error of code that does not
// compile is the output of the compiler.
func BuildBundle(ctx context.Context, root, file, goos, goarch string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("a bundle of functions is built with Go, which is not installed: %w", err)
	}
	if _, err := os.Stat(filepath.Join(root, "functions", "functions.go")); err != nil {
		return fmt.Errorf("this is not a project with functions: %w", err)
	}
	dir, err := tempdir.New("", "bundle")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Remove() }() // Sweep removes what is left
	if root, err = filepath.Abs(root); err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	if err := writeOverlay(dir.Path, root); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay", filepath.Join(dir.Path, "overlay.json"), "-trimpath",
		"-ldflags=-s -w", "-o", file, "./functions/"+childFolder)
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	if out, err := build.CombinedOutput(); err != nil {
		return errors.New("the functions do not compile:\n" +
			strings.TrimSpace(string(bytes.TrimSpace(out))+"\n"+err.Error()))
	}
	return nil
}
