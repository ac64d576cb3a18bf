package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Attach returns the server that another process runs on o.Data. That process supervises it: Stop
// does nothing. If no server runs there, the error matches fs.ErrNotExist. Older reports whether
// its Postgres or its extensions differ from o.Source.
func Attach(o Options) (s *Server, older bool, err error) {
	o = o.withDefaults()
	version, err := os.ReadFile(filepath.Join(o.Data, "PG_VERSION"))
	if got := strings.TrimSpace(string(version)); err == nil && got != major {
		return nil, false, userErrorf(ErrOtherVersion, "%s holds data of Postgres %s, but this is Postgres %s", o.Data,
			got, major)
	}
	f, err := readPidFile(o.Data)
	if err == nil && len(postgresPids(o.Data, f)) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, false, fmt.Errorf("find the database server of %s: %w", o.Data, err)
	}
	if !f.ready || f.socketDir == "" {
		return nil, false, errors.New("the database server is starting or stopping: retry in a moment")
	}
	w, err := findOwner(o)
	if err != nil {
		return nil, false, err
	}
	s = &Server{
		opt: o, owner: w, attached: true, socketDir: f.socketDir, port: f.port, passwords: map[string]string{},
		stopping: make(chan struct{}), done: make(chan struct{}),
	}
	close(s.done)
	name, err := unpackedName(o.Source)
	if err != nil {
		return nil, false, err
	}
	program, err := os.Readlink("/proc/" + strconv.Itoa(f.pid) + "/exe")
	older = err == nil && !strings.Contains(program, "/"+name+"/")
	return s, older, nil
}
