package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progressBar shows the progress of a long operation on a terminal. It prints nothing if the output
// is not a terminal.
type progressBar struct {
	w io.Writer // nil if the output is not a terminal

	mu    sync.Mutex
	last  time.Time // of the last update
	shown bool
}

func newProgressBar(w io.Writer) *progressBar {
	b := &progressBar{}
	if isTerminal(w) {
		b.w = w
	}
	return b
}

// barWidth is the width of the bar itself, in columns.
const barWidth = 30

// set shows that step has done this much of total.
func (b *progressBar) set(step string, done, total int64) {
	if b.w == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.last) < 100*time.Millisecond && done < total {
		return
	}
	b.last, b.shown = time.Now(), true
	filled := 0
	if total > 0 {
		filled = int(min(done, total) * barWidth / total)
	}
	fmt.Fprintf(b.w, "\r\x1b[K%-10s %s%s", step, strings.Repeat("█", filled), strings.Repeat("░", barWidth-filled))
}

// clear removes the bar from the terminal.
func (b *progressBar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.shown = false
	}
}

// bytesText formats a number of bytes for people, in powers of 1000.
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
