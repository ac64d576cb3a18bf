package password

import "testing"

// TestHashingPriority checks that the hashing thread gets a higher nice value, by at most 5, and
// that other threads keep theirs.
func TestHashingPriority(t *testing.T) {
	normal, err := nice()
	if err != nil {
		t.Fatal(err)
	}
	var hashing int
	if err := NewHasher(4, 1).lowPriority(t.Context(),
		func() (err error) { hashing, err = nice(); return err }); err != nil {
		t.Fatal(err)
	}
	if hashing <= normal || hashing > normal+5 {
		t.Errorf("nice value of the hashing thread: %d, of other threads: %d", hashing, normal)
	}
	if after, err := nice(); err != nil || after != normal {
		t.Errorf("nice value of other threads after hashing: %d, %v", after, err)
	}
}
