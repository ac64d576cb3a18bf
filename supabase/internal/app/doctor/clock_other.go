//go:build !linux

package doctor

// clock cannot ask this system.
func (c *checker) clock() {
	c.say("clock", Note, "unsupported", "synchronization unknown on this system")
}
