package photo

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	_ "github.com/gen2brain/heic" // holds the program of the decoder
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// heifProgram is libheif, compiled to WebAssembly and packed. The module that holds it can decode,
// too, but without a limit of time and memory: a file of 40 kB can demand gigabytes and minutes,
// with tiles and frames that its headers do not declare.
//
//go:linkname heifProgram github.com/gen2brain/heic.heifWasm
var heifProgram []byte

const (
	heifMemory = 256_000_000      // bytes that a decoder may have
	heifPage   = 64 << 10         // bytes of a page of memory
	heifTime   = 30 * time.Second // that decoding may take; a job of functions has a minute
)

// heifDecoder compiles the decoder at its first use.
var heifDecoder = sync.OnceValues(func() (*heifRuntime, error) {
	ctx := context.Background()
	unpacked, err := gzip.NewReader(bytes.NewReader(heifProgram))
	if err != nil {
		return nil, err
	}
	program, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	limited := wazero.NewRuntimeConfig().WithMemoryLimitPages(heifMemory / heifPage)
	d := &heifRuntime{runtime: wazero.NewRuntimeWithConfig(ctx, limited)}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, d.runtime); err != nil {
		return nil, err
	}
	d.program, err = d.runtime.CompileModule(experimental.WithFunctionListenerFactory(ctx, &stopper{}), program)
	return d, err
})

// stopper ends a decoder after the end of its context: it looks when the decoder allocates memory,
// which it does many times for each picture. wazero's own look at every loop makes decoding seven
// times slower.
type stopper struct{ allocators int } // functions that follow

// NewFunctionListener listens to malloc and to the two functions after it, which the library itself
// calls. wazero asks in the order of the functions.
func (s *stopper) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	if slices.Contains(f.ExportNames(), "malloc") {
		s.allocators = 3
	}
	if s.allocators == 0 {
		return nil
	}
	s.allocators--
	return experimental.FunctionListenerFunc(func(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64,
		_ experimental.StackIterator) {
		if ctx.Err() != nil {
			panic(ctx.Err()) // Call returns it
		}
	})
}

type heifRuntime struct {
	runtime wazero.Runtime
	program wazero.CompiledModule
}

// decodeHEIF decodes HEIC with libheif in a sandbox, whose memory is freed at the end. libheif
// rotates the image itself.
func decodeHEIF(data []byte, info Info) (image.Image, error) {
	d, err := heifDecoder()
	if err != nil {
		return nil, fmt.Errorf("decoder of HEIC: %w", err)
	}
	ctx, cancel := context.WithTimeout(withHEIFMemory(context.Background()), heifTime)
	defer cancel()
	img, err := d.decode(ctx, data, 2*int64(info.Width)*int64(info.Height))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return img, nil
}

// errHEIF means that libheif cannot decode a file, or not within its memory.
var errHEIF = errors.New("libheif refuses the file")

// decode decodes an image of at most the given number of pixels in a sandbox of its own.
func (d *heifRuntime) decode(ctx context.Context, data []byte, most int64) (image.Image, error) {
	instance, err := d.runtime.InstantiateModule(ctx, d.program, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, err
	}
	defer instance.Close(ctx)
	s := heifSandbox{ctx, instance, nil}
	in := s.alloc(len(data))
	head := s.alloc(4 * heifWords)
	if s.err == nil && !instance.Memory().Write(in, data) {
		s.err = errHEIF
	}
	s.decode(in, len(data), true, head, 0)
	l, err := layoutOf(s.words(head), most)
	if s.err != nil || err != nil {
		return nil, errors.Join(s.err, err)
	}
	out := s.alloc(l.size())
	s.decode(in, len(data), false, head, out)
	return l.image(s.bytes(out, l.size())), s.err
}
