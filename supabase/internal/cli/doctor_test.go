package cli

import "testing"

func TestFailedChecks(t *testing.T) {
	for n, want := range map[int]string{1: "1 check failed", 2: "2 checks failed"} {
		if got := failedChecks(n).Error(); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if err := failedChecks(0); err != nil {
		t.Error("0:", err)
	}
}
