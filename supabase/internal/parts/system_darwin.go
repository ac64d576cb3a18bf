package parts

import "golang.org/x/sys/unix"

// systemVersion returns the version of macOS. Every other kind is missing.
func systemVersion(kind string) (string, error) {
	if kind != "macos" {
		return "", nil
	}
	return unix.Sysctl("kern.osproductversion")
}
