package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// choosePostgres adds the distribution, and finds what the Postgres of the projects has.
func (c *corpus) choosePostgres(ctx context.Context) error {
	if c.distribution != "" {
		if err := c.addDistribution(ctx); err != nil {
			return err
		}
	}
	return c.findCompiled()
}

// findCompiled adds the names of the extensions that the clone's build compiled.
func (c *corpus) findCompiled() error {
	platform := runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	controls, err := filepath.Glob(filepath.Join("bin/extensions", platform, "native/share/postgresql/extension/*.control"))
	for _, file := range controls {
		c.names = append(c.names, strings.TrimSuffix(filepath.Base(file), ".control"))
	}
	return err
}

// addDistribution puts Supabase's Postgres into the cache of added programs. Each project gets the
// lock file that names it.
func (c *corpus) addDistribution(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "corpus-postgres-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	args := []string{"postgres", "add"}
	if c.archive != "" {
		archive, err := filepath.Abs(c.archive)
		if err != nil {
			return err
		}
		args = append(args, "--from", archive)
	}
	if err := c.command(ctx, dir, args...); err != nil {
		return err
	}
	c.lock, err = os.ReadFile(filepath.Join(dir, "parts.lock"))
	return err
}

// command runs the program with a data folder and without a project.
func (c *corpus) command(ctx context.Context, data string, args ...string) error {
	cmd := exec.CommandContext(ctx, c.program, append(args, "--data", data)...)
	cmd.Dir, cmd.Env = data, environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args[:2], " "), err, out)
	}
	return nil
}

// addExtensions adds the extensions to a data folder.
func (c *corpus) addExtensions(ctx context.Context) (err error) {
	if c.added, err = os.MkdirTemp("", "corpus-added-"); err != nil {
		return err
	}
	if err := c.command(ctx, c.added, append([]string{"extensions", "add"}, c.extensions...)...); err != nil {
		return err
	}
	controls, err := filepath.Glob(filepath.Join(c.added, "extensions/native/share/postgresql/extension/*.control"))
	for _, file := range controls {
		c.names = append(c.names, strings.TrimSuffix(filepath.Base(file), ".control"))
	}
	return err
}
