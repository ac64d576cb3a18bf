package parts

import (
	"debug/elf"
	"path/filepath"
	"strings"
)

// libraries are where distributions keep the C library.
var libraries = []string{
	"/lib/*-linux-gnu/libc.so.6", "/usr/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6",
	"/lib/libc.so.6", "/usr/lib/libc.so.6",
}

// systemVersion returns the version of glibc on this machine, or "" if it has none, such as with
// musl. Every other kind is missing, too.
func systemVersion(kind string) (string, error) {
	if kind != "glibc" {
		return "", nil
	}
	own, err := elf.Open("/proc/self/exe")
	if err != nil {
		return "", err
	}
	defer own.Close()
	for _, pattern := range libraries {
		files, _ := filepath.Glob(pattern) // the patterns are valid
		for _, file := range files {
			if version := glibcVersion(file, own.Machine); version != "" {
				return version, nil
			}
		}
	}
	return "", nil
}

// glibcVersion returns the newest version whose symbols a C library has, "" if it is another
// library or for another processor.
func glibcVersion(file string, machine elf.Machine) string {
	lib, err := elf.Open(file)
	if err != nil {
		return ""
	}
	defer lib.Close()
	defined, err := lib.DynamicVersions()
	if err != nil || lib.Machine != machine {
		return ""
	}
	newest := ""
	for _, v := range defined {
		version, ok := strings.CutPrefix(v.Name, "GLIBC_")
		if !ok {
			continue
		}
		if older, err := olderThan(newest, version); newest == "" || err == nil && older {
			if _, err := olderThan(version, "0"); err == nil { // not GLIBC_PRIVATE
				newest = version
			}
		}
	}
	return newest
}
