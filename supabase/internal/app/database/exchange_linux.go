package database

import "golang.org/x/sys/unix"

// exchangeFolders exchanges two folders at once.
func exchangeFolders(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
