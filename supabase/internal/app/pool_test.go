package app

import (
	"testing"
)

func TestRESTPool(t *testing.T) {
	for _, c := range []struct {
		cores         int
		conns, active int32
	}{{0, 12, 0}, {1, 12, 4}, {2, 12, 8}, {3, 16, 12}, {4, 20, 16}, {8, 20, 20}, {64, 20, 20}} {
		if conns, active := restPool(c.cores); conns != c.conns || active != c.active {
			t.Errorf("%d cores: %d connections, %d active", c.cores, conns, active)
		}
	}
}
