package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
)

// Locate finds the server that another process runs on a data folder and
// returns how to connect to its database postgres as a role over its socket.
// When none runs there the error matches fs.ErrNotExist.
func Locate(data string) (func(role string) string, error) {
	f, err := readPidFile(data)
	if err != nil {
		return nil, fmt.Errorf("find the database server of %s: %w", data, err)
	}
	if len(live(data, f)) == 0 {
		return nil, fmt.Errorf("find the database server of %s: it does not run: %w", data, fs.ErrNotExist)
	}
	if !f.ready || f.socketDir == "" {
		return nil, errors.New("the database server is starting or stopping: try again in a moment")
	}
	return func(role string) string { return socketURL(f.socketDir, f.port, role, "postgres") }, nil
}

func socketURL(dir string, port int, role, database string) string {
	q := url.Values{"host": {dir}, "port": {strconv.Itoa(port)}}
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: q.Encode()}
	return u.String()
}
