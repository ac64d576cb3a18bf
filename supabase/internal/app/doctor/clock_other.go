//go:build !linux

package doctor

// clock cannot ask this system.
func (c *checker) clock() { c.say("clock", Note, "synchronization unknown on this system") }
