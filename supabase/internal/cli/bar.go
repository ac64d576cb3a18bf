package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// bar shows how far a long work has come: a moving line on a terminal, nothing elsewhere.
type bar struct {
	w io.Writer

	mu   sync.Mutex
	last time.Time
	open bool
}

func newBar(w io.Writer) *bar {
	b := &bar{}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			b.w = w
		}
	}
	return b
}

// barWidth is that of the moving part, in columns.
const barWidth = 30

func (b *bar) set(step string, done, total int64) {
	if b.w == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.last) < 100*time.Millisecond && done < total {
		return
	}
	b.last, b.open = time.Now(), true
	filled := 0
	if total > 0 {
		filled = int(min(done, total) * barWidth / total)
	}
	fmt.Fprintf(b.w, "\r\x1b[K%-10s %s%s", step, strings.Repeat("█", filled), strings.Repeat("░", barWidth-filled))
}

// done takes the line away.
func (b *bar) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.open = false
	}
}

// bytesText is a number of bytes for people, in powers of 1000.
func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
