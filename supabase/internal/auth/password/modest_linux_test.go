package password

import "testing"

// TestStepsBackALittle: the thread that hashes lets others go first but keeps a share that a busy machine still serves in
// time, and no other thread becomes as modest.
func TestStepsBackALittle(t *testing.T) {
	usual, err := nice()
	if err != nil {
		t.Fatal(err)
	}
	var modest int
	if err := NewHasher(4, 1).modestly(t.Context(), func() (err error) { modest, err = nice(); return err }); err != nil {
		t.Fatal(err)
	}
	if modest <= usual || modest > usual+5 {
		t.Errorf("hashing runs at nice %d, the rest at %d", modest, usual)
	}
	if after, err := nice(); err != nil || after != usual {
		t.Errorf("the rest runs at nice %d now, %v", after, err)
	}
}
