package site

import "sync/atomic"

// content is a file as it is or one of its compressed forms.
type content struct {
	kept  atomic.Pointer[[]byte] // nil until a request needs it, if read is not nil
	read  func() ([]byte, error) // reads it from the program, which contains it as it is served; otherwise nil
	built bool                   // compressed by the site's build
}

// data returns the bytes, or nil for a form that nothing has compressed yet.
func (c *content) data() ([]byte, error) {
	if p := c.kept.Load(); p != nil {
		return *p, nil
	}
	if c.read == nil {
		return nil, nil
	}
	data, err := c.read()
	if err != nil {
		return nil, err
	}
	c.kept.Store(&data)
	return data, nil
}

// release drops the copy of what the program file has already, until a request needs it.
func (c *content) release() {
	if c.read != nil {
		c.kept.Store(nil)
	}
}
