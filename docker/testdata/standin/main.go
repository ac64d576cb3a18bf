// Command standin takes the place of an image's program in the runtime test. It checks that the
// container gives the program the files and folders that it needs, prints what is missing and exits
// with 1.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	var needs struct {
		Read, Write, Protected []string
	}
	text, err := os.ReadFile("/needs.json")
	if err == nil {
		err = json.Unmarshal(text, &needs)
	}
	failed := err != nil
	complain := func(name string, err error) {
		if err != nil {
			failed = true
			fmt.Printf("user %d: %s: %v\n", os.Getuid(), name, err)
		}
	}
	complain("needs", err)
	for _, name := range needs.Read {
		complain(name, read(name))
	}
	for _, name := range needs.Write {
		complain(name, write(name))
	}
	for _, name := range needs.Protected {
		if write(name) == nil {
			complain(name, fmt.Errorf("writable, want read-only"))
		}
	}
	if failed {
		os.Exit(1)
	}
}

// read reads a file, or lists a folder and reads its first file.
func read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		_, err = io.CopyN(io.Discard, f, 1)
		return err
	}
	entries, err := f.ReadDir(0)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			_, err := os.ReadFile(filepath.Join(name, e.Name()))
			return err
		}
	}
	return nil
}

// write creates and removes a file in a folder.
func write(folder string) error {
	f, err := os.CreateTemp(folder, ".standin")
	if err != nil {
		return err
	}
	name := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}
