package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"daawo/supabase/internal/base/atomicfile"
)

// ErrNotRunning means that no server runs on the data folder.
var ErrNotRunning = errors.New("no server is running")

// serverFile is the file in the data folder that names the running server.
const serverFile = "control.json"

// Server is the server that runs on a data folder.
type Server struct {
	Socket string `json:"socket"` // receives the operator's commands
	PID    int    `json:"pid"`
}

// ReadServer returns the server that runs on a data folder. It returns ErrNotRunning if there is
// none.
func ReadServer(data string) (Server, error) {
	var s Server
	text, err := os.ReadFile(filepath.Join(data, serverFile))
	if errors.Is(err, fs.ErrNotExist) {
		if Locked(data) {
			return s, fmt.Errorf("a server or another command runs on %s and takes no commands: it may be starting or stopping; try again later", data)
		}
		return s, NotRunning(data)
	}
	if errors.Is(err, fs.ErrPermission) {
		return s, Error(data, err)
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

// NotRunning returns ErrNotRunning with the data folder and what to do.
func NotRunning(data string) error {
	return fmt.Errorf("%w on %s: start one with `daawo start`, or name its data folder with --data", ErrNotRunning,
		data)
}

// WriteServer records the server that runs on a data folder.
func WriteServer(data string, s Server) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(data, serverFile), text, 0o600)
}

// RemoveServer removes the record of WriteServer, unless another server has replaced it.
func RemoveServer(data string, s Server) error {
	if now, err := ReadServer(data); err != nil || now.Socket != s.Socket {
		return nil
	}
	return os.Remove(filepath.Join(data, serverFile))
}
