package jail

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestProgramHeldOpen checks that a program starts that is still open for writing for a moment.
func TestProgramHeldOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "program")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = held.Close() })
	policy := Policy{Program: name}
	cell, err := Command(policy)
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cell.Cmd.Args, cell.Cmd.Stdout = append(cell.Cmd.Args, "-test.list=TestProgramHeldOpen"), write
	err = cell.Start(policy)
	_ = write.Close()
	if err != nil {
		t.Fatal(err)
	}
	output, err := io.ReadAll(read)
	if waited := cell.Cmd.Wait(); err != nil || waited != nil || !strings.HasPrefix(string(output), t.Name()) {
		t.Errorf("%q %v %v", output, err, waited)
	}
	if err := cell.Close(); err != nil {
		t.Error(err)
	}
}
