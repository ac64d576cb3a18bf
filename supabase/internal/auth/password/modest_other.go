//go:build !linux

package password

// stepBack does nothing where threads have no priority of their own.
func stepBack() {}
