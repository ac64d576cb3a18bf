package photo

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// withHEIFMemory returns a context in which the memory of a decoder is outside of Go's heap. So it
// grows without a copy, and is free as soon as the decoder ends.
func withHEIFMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
		func(_, most uint64) experimental.LinearMemory {
			pages, err := syscall.Mmap(-1, 0, int(most), syscall.PROT_READ|syscall.PROT_WRITE,
				syscall.MAP_PRIVATE|syscall.MAP_ANON)
			if err != nil {
				return &heifPages{} // the decoder does not start
			}
			return &heifPages{pages}
		}))
}

type heifPages struct{ all []byte }

// Reallocate returns the first size bytes, nil if there are not so many.
func (p *heifPages) Reallocate(size uint64) []byte {
	if size > uint64(len(p.all)) {
		return nil
	}
	return p.all[:size]
}

// Free gives the memory back to the system.
func (p *heifPages) Free() {
	if p.all != nil {
		_ = syscall.Munmap(p.all) // fails only for other memory
		p.all = nil
	}
}
