package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
)

// Locate finds the server that another process runs on a data folder. It
// returns a function that makes the socket URL of database postgres for a role.
// If no server runs there, the error matches fs.ErrNotExist.
func Locate(data string) (func(role string) string, error) {
	f, err := readPidFile(data)
	if err != nil {
		return nil, fmt.Errorf("find the database server of %s: %w", data, err)
	}
	if len(postgresPids(data, f)) == 0 {
		return nil, fmt.Errorf("find the database server of %s: not running: %w", data, fs.ErrNotExist)
	}
	if !f.ready || f.socketDir == "" {
		return nil, errors.New("the database server is starting or stopping: retry in a moment")
	}
	return func(role string) string { return socketURL(f.socketDir, f.port, role, "postgres") }, nil
}

func socketURL(dir string, port int, role, database string) string {
	q := url.Values{"host": {dir}, "port": {strconv.Itoa(port)}}
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: q.Encode()}
	return u.String()
}
