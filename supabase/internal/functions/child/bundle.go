package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"daawo/supabase/internal/base/tempdir"
	"daawo/supabase/internal/functions/scaffold"
)

// BuildBundle compiles the functions of the project in root, the folder of go.mod, into a program
// that deploy.Deployer runs. goos and goarch are the server's. The error of code that does
// not compile is the output of the compiler.
func BuildBundle(ctx context.Context, root, file, goos, goarch string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("a bundle of functions is built with Go, which is not installed: %w", err)
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

// childSource is the program of a child. Only an overlay of the compiler puts it into the
// module of the functions.
const childSource = `package main

import (
	functions %q
	"daawo/supabase/stack/child"
)

func main() { child.Main(functions.All) }
`

// childFolder is its folder in the overlay, below functions/.
const childFolder = "devchild"

// writeOverlay writes the source of the child and the overlay file that places it in the module.
func writeOverlay(dir, root string) error {
	module, err := scaffold.Module(root)
	if err != nil {
		return err
	}
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, fmt.Appendf(nil, childSource, module+"/functions"), 0o600); err != nil {
		return err
	}
	target := filepath.Join(root, "functions", childFolder, "main.go")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{target: source}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600)
}
