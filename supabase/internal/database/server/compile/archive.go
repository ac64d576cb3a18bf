package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pinned has a file of Debian's archive per line: the extension, the path and the SHA-256.
//
//go:embed sources.txt
var pinned string

// file is a line of pinned.
type file struct{ name, path, digest string }

// pinnedFiles returns the files of an extension, the preferred one first.
func pinnedFiles(name string) (files []file) {
	for line := range strings.Lines(pinned) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == name {
			files = append(files, file{words[0], words[1], words[2]})
		}
	}
	return files
}

// helper is apt's program that downloads a file.
const helper = "/usr/lib/apt/apt-helper"

// archive is Debian's archive on the mirror that this machine's apt uses.
type archive struct{ mirror, dir string }

// openArchive finds the mirror. Its files go to dir.
func openArchive(ctx context.Context, dir string) (*archive, error) {
	if _, err := os.Stat(helper); err != nil {
		return nil, fmt.Errorf("%w: no apt, from which the sources come", errUnable)
	}
	text, err := output(ctx, "/", "apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI)",
		"Created-By: Packages")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnable, err)
	}
	for line := range strings.Lines(text) {
		if mirror := strings.TrimSuffix(strings.TrimSpace(line), "/"); strings.HasSuffix(mirror, "/debian") {
			return &archive{mirror, dir}, nil
		}
	}
	return nil, fmt.Errorf("%w: apt of this machine has no archive of Debian, from which the sources come", errUnable)
}

// debianArch has Debian's names of platforms.
var debianArch = map[string]string{"linux-x64": "amd64", "linux-arm64": "arm64"}

// unpack downloads the first file of a name that the mirror has and that fits the platform, checks
// its digest and unpacks it. It returns the folder, and whether that is a compiled package.
func (a *archive) unpack(ctx context.Context, name, platform string) (dir string, compiled bool, err error) {
	dir = filepath.Join(a.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", false, err
	}
	err = fmt.Errorf("%w: %s has no file for %s", errUnable, "sources.txt", name)
	for _, f := range pinnedFiles(name) {
		compiled = strings.HasSuffix(f.path, ".deb")
		fits := strings.HasSuffix(name, "headers") || strings.HasSuffix(f.path, "_"+debianArch[platform]+".deb")
		if compiled && !fits {
			continue
		}
		var local string
		local, err = a.download(ctx, f)
		switch {
		case err == nil && compiled:
			return dir, true, command(ctx, a.dir, "dpkg-deb", "-x", local, dir)
		case err == nil:
			return dir, false, command(ctx, a.dir, "tar", "-xf", local, "-C", dir, "--strip-components", "1")
		case !errors.Is(err, errUnable):
			return "", false, err
		}
	}
	return "", false, err
}

// download gets a file from the mirror. The error matches errUnable if the mirror does not have it.
func (a *archive) download(ctx context.Context, f file) (string, error) {
	local := filepath.Join(a.dir, f.name+".file")
	if err := command(ctx, a.dir, helper, "-o", "APT::Sandbox::User=root", "download-file", a.mirror+"/"+f.path,
		local); err != nil {
		return "", fmt.Errorf("%w: the mirror of Debian does not have %s", errUnable, filepath.Base(f.path))
	}
	text, err := os.ReadFile(local)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != f.digest {
		return "", fmt.Errorf("%s has the SHA-256 %x, not the one in sources.txt", f.path, sum)
	}
	return local, nil
}

// command runs a program. Its error has the last lines of the output.
func command(ctx context.Context, dir, name string, args ...string) error {
	_, err := output(ctx, dir, name, args...)
	return err
}

func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(messages.String()), "\n")
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.Join(lines[max(0, len(lines)-3):], "; "))
	}
	return out.String(), nil
}
