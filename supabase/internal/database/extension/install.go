package extension

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Install writes the extensions to dir, the folder of the control files of
// another Postgres. It returns the names of those that it wrote, and of those
// that it left alone because dir has another implementation. It leaves out an extension that needs
// one in C that dir does not have.
func Install(dir string) (written, kept []string, err error) {
	files := Files()
	controls, err := fs.Glob(files, "*.control") // sorted by name
	if err != nil {
		return nil, nil, err
	}
	if info, err := os.Stat(filepath.Join(dir, "plpgsql.control")); err != nil || info.IsDir() {
		return nil, nil, fmt.Errorf("%s is not the extension folder of a Postgres server: take the one below "+
			"`pg_config --sharedir`", dir)
	}
	for _, control := range controls {
		name := strings.TrimSuffix(control, ".control")
		if name == "http" { // the program listens beside the embedded Postgres only
			continue
		}
		if needed := Requires(control); needed != "" {
			if _, err := os.Stat(filepath.Join(dir, needed+".control")); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		ours, err := fs.ReadFile(files, control)
		if err != nil {
			return written, kept, err
		}
		there, err := os.ReadFile(filepath.Join(dir, control))
		if err == nil && !bytes.Equal(firstLine(there), firstLine(ours)) {
			kept = append(kept, name)
			continue
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return written, kept, err
		}
		scripts, err := fs.Glob(files, name+"--*.sql")
		if err != nil {
			return written, kept, err
		}
		for _, file := range append(scripts, control) { // the control file last: it makes the extension available
			text, err := fs.ReadFile(files, file)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, file), text, 0o644)
			}
			if err != nil {
				return written, kept, err
			}
		}
		written = append(written, name)
	}
	return written, kept, nil
}

// firstLine returns the comment that tells our control files from others.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}
