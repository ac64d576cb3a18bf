//go:build !linux

package app

// clock cannot ask this system.
func (c *checker) clock() { c.say("clock", Note, "synchronization unknown on this system") }
