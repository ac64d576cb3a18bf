// Package cpu divides the processor cores between this program and the Postgres beside it.
//
// Only app, auth, db and fnhost import it; it imports nothing of ours.
package cpu

import (
	"os"
	"runtime"
)

// available is what Go chose at the start, or the value of GOMAXPROCS.
var available = runtime.GOMAXPROCS(0)

// Cores returns the number of processor cores that this program may use, by its affinity and the quota of its cgroup.
func Cores() int { return available }

// ShareWithPostgres prepares for a Postgres on the same machine, unless GOMAXPROCS is set. The kernel runs a Postgres
// process as soon as it is asked, and takes the core from the thread that asked. Go counts a core as busy while its thread waits
// for one, so all of its work would stand still while two queries begin.
func ShareWithPostgres() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threads(available))
	}
}

// threads returns how many threads should run Go code at a time. Four on two cores serve 4 to 20 % more requests with eight
// clients and 13 to 27 % more with 32; two on one core serve 10 % fewer (docs/evidence/performance.md). Other numbers of cores
// are not measured.
func threads(cores int) int {
	if cores == 2 {
		return 4
	}
	return cores
}
