package cpu

import (
	"runtime"
	"testing"
)

func TestThreads(t *testing.T) {
	for cores, want := range map[int]int{1: 1, 2: 4, 3: 3, 4: 4, 16: 16} {
		if got := threads(cores); got != want {
			t.Errorf("threads(%d) = %d, want %d", cores, got, want)
		}
	}
}

// TestShareWithPostgres keeps what an operator has set, and the number of cores.
func TestShareWithPostgres(t *testing.T) {
	was := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(was)
	cores := Cores()

	t.Setenv("GOMAXPROCS", "3")
	runtime.GOMAXPROCS(3)
	ShareWithPostgres()
	if got := runtime.GOMAXPROCS(0); got != 3 {
		t.Errorf("GOMAXPROCS=3 became %d", got)
	}

	t.Setenv("GOMAXPROCS", "")
	ShareWithPostgres()
	if got := runtime.GOMAXPROCS(0); got != threads(cores) {
		t.Errorf("%d threads on %d cores, want %d", got, cores, threads(cores))
	}
	if Cores() != cores {
		t.Errorf("the number of cores became %d, want %d", Cores(), cores)
	}
}
