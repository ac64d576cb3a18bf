package photo

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// heifSandbox calls the functions of the decoder. After an error it does nothing more.
type heifSandbox struct {
	ctx    context.Context
	module api.Module
	err    error
}

func (s *heifSandbox) call(name string, arguments ...uint64) uint32 {
	if s.err != nil {
		return 0
	}
	results, err := s.module.ExportedFunction(name).Call(s.ctx, arguments...)
	switch {
	case err != nil:
		s.err = err
	case uint32(results[0]) == 0:
		s.err = errHEIF
	default:
		return uint32(results[0])
	}
	return 0
}

// alloc returns the address of new memory.
func (s *heifSandbox) alloc(size int) uint32 { return s.call("malloc", uint64(size)) }

// bytes returns a copy of memory.
func (s *heifSandbox) bytes(at uint32, size int) []byte {
	if s.err != nil {
		return nil
	}
	memory, ok := s.module.Memory().Read(at, uint32(size))
	if !ok {
		s.err = errHEIF
	}
	return bytes.Clone(memory)
}

// decode writes the properties of the image to head. Unless only those are wanted, it writes the
// pixels to out.
func (s *heifSandbox) decode(in uint32, size int, properties bool, head, out uint32) {
	only := uint64(0)
	if properties {
		only = 1
	}
	arguments := []uint64{uint64(in), uint64(size), only}
	for i := range heifWords {
		arguments = append(arguments, uint64(head)+uint64(4*i))
	}
	s.call("decode", append(arguments, uint64(out))...)
}

// heifWords is the number of properties, of four bytes each: width, height, color space, chroma
// format, whether the colors are premultiplied.
const heifWords = 5

func (s *heifSandbox) words(at uint32) (w [heifWords]int64) {
	if b := s.bytes(at, 4*heifWords); s.err == nil {
		for i := range w {
			w[i] = int64(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	return w
}
