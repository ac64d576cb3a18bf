package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// activity shows on a terminal what a command works at and for how long, in one line that changes.
// Other output goes through Write, above that line. If the output is no terminal, each step is a
// line, without its time.
type activity struct {
	w       io.Writer
	live    bool // the line may change
	colours colours
	columns int
	now     func() time.Time

	mu    sync.Mutex
	step  string // "" for none
	began time.Time
	shown bool // the line is on the terminal
	stop  chan struct{}
	ended sync.WaitGroup
}

// newActivity returns an activity without a step.
func newActivity(inv *Invocation, w io.Writer) *activity {
	kind, _ := inv.Getenv("TERM")
	return &activity{w: w, live: isTerminal(w) && kind != "dumb", colours: coloursOf(w, inv.Getenv),
		columns: columnsOf(w), now: time.Now}
}

// tick is how often the time changes.
const tick = 100 * time.Millisecond

// begin ends the step and shows the next one at once.
func (a *activity) begin(step string) {
	a.end()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.step, a.began = step, a.now()
	if !a.live {
		fmt.Fprintln(a.w, step)
		return
	}
	a.draw()
	a.stop = make(chan struct{})
	stop := a.stop
	a.ended.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(tick):
			}
			a.mu.Lock()
			if a.step != "" {
				a.draw()
			}
			a.mu.Unlock()
		}
	})
}

// end ends the step. On a terminal its line stays, with the time that it took.
func (a *activity) end() {
	a.mu.Lock()
	if a.step != "" && a.live {
		a.clear()
		fmt.Fprintf(a.w, "%s✓%s %s %s%s%s\n", a.colours.green, a.colours.reset, a.step, a.colours.dim, a.took(),
			a.colours.reset)
		close(a.stop)
	}
	a.step = ""
	a.mu.Unlock()
	a.ended.Wait()
}

// cancel ends the step without a word, because it failed.
func (a *activity) cancel() {
	a.mu.Lock()
	if a.step != "" && a.live {
		a.clear()
		close(a.stop)
	}
	a.step = ""
	a.mu.Unlock()
	a.ended.Wait()
}

// Write writes other output above the line.
func (a *activity) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clear()
	n, err := a.w.Write(p)
	if a.step != "" && a.live {
		a.draw()
	}
	return n, err
}

// took returns the time of the step.
func (a *activity) took() string { return fmt.Sprintf("%.1f s", a.now().Sub(a.began).Seconds()) }

// draw writes the line. A longer line than the terminal would not be cleared.
func (a *activity) draw() {
	text := "… " + a.step + " " + a.took()
	for utf8.RuneCountInString(text) >= a.columns {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	fmt.Fprintf(a.w, "\r\x1b[K%s%s%s", a.colours.dim, text, a.colours.reset)
	a.shown = true
}

func (a *activity) clear() {
	if a.shown {
		fmt.Fprint(a.w, "\r\x1b[K")
		a.shown = false
	}
}
