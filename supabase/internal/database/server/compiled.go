package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The extensions that command compile makes lie in a folder with the layout of the npm package.
const (
	// ExtensionsFile lists them with their versions and digests.
	ExtensionsFile = "extensions.txt"
	// AbsentFile has the reason if the build could not compile them.
	AbsentFile = "absent.txt"
)

// ExtensionsDir returns the folder of a platform's compiled extensions in a clone.
func ExtensionsDir(clone, platform string) string {
	return filepath.Join(clone, "bin", "extensions", platform)
}

// WithExtensions returns the package with the files of a folder of compiled extensions, which may
// be missing. A Home has its own extensions only.
func WithExtensions(pkg, extensions fs.FS) fs.FS {
	if _, ok := pkg.(*Home); ok {
		return pkg
	}
	if _, err := fs.Stat(extensions, ExtensionsFile); err != nil {
		return pkg
	}
	return union{extensions, pkg}
}

// WhyAbsent returns why the clone at or above dir has no compiled extension of a name.
func WhyAbsent(dir, name string) string {
	at, err := findModules(dir)
	if err != nil {
		return err.Error()
	}
	text, err := os.ReadFile(filepath.Join(ExtensionsDir(at, Platform()), AbsentFile))
	if err != nil {
		return name + " is not compiled: run `make build`"
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, name+": ") {
			return strings.TrimSpace(line)
		}
	}
	return name + " is no extension that the build compiles"
}

// extensionsDigest returns a short hash of the package's compiled and added extensions, or "" for
// none.
func extensionsDigest(pkg fs.FS) (string, error) {
	text, err := listsOf(pkg)
	if err != nil || len(text) == 0 {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "-" + hex.EncodeToString(sum[:4]), nil
}

// listsOf returns the lists of extensions in all members of a package.
func listsOf(pkg fs.FS) (text []byte, err error) {
	members, ok := pkg.(union)
	if !ok {
		text, err = fs.ReadFile(pkg, ExtensionsFile)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return text, err
	}
	for _, member := range members {
		more, err := listsOf(member)
		if err != nil {
			return nil, err
		}
		text = append(text, more...)
	}
	return text, nil
}

// union has the files of all its members. The first one with a name wins.
type union []fs.FS

// Open opens a file of the first member that has it.
func (u union) Open(name string) (f fs.File, err error) {
	for _, member := range u {
		if f, err = member.Open(name); err == nil {
			return f, nil
		}
	}
	return nil, err
}

// ReadDir returns the entries of a folder in all members, sorted by name.
func (u union) ReadDir(name string) (entries []fs.DirEntry, err error) {
	found := false
	for _, member := range u {
		more, e := fs.ReadDir(member, name)
		if e != nil {
			err = cmp.Or(err, e)
			continue
		}
		found = true
		entries = append(entries, more...)
	}
	if !found {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(entries, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil
}
