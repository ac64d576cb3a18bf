package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrNotRunning means that no server runs on a data folder.
var ErrNotRunning = errors.New("no server is running")

// controlName is the file in the data folder that says where the running server listens for commands.
const controlName = "control.json"

// maxControlPath is what the kernel allows for a unix socket's path, in bytes.
const maxControlPath = 107

// control is the server's ear for its operator: a unix socket in a private folder of its own, since the path of a data
// folder may be too long for a socket's.
type control struct {
	server *http.Server
	dir    string // of the socket
	file   string // controlName
}

// controlFile is what controlName holds.
type controlFile struct {
	Socket string `json:"socket"`
	PID    int    `json:"pid"`
}

// openControl starts answering commands. stop is called when the operator asks for it.
func openControl(data string, commands map[string]func(context.Context) (any, error)) (*control, error) {
	listener, dir, err := listenControl()
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	socket := listener.Addr().String()
	c := &control{dir: dir, file: filepath.Join(data, controlName)}
	c.server = &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			command, ok := commands[r.URL.Path]
			if !ok {
				http.Error(w, "this server does not know the command; is the program newer than the server?", http.StatusNotFound)
				return
			}
			reply, err := command(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(reply) // the operator may be gone
		}),
	}
	go c.server.Serve(listener) //nolint:errcheck // it returns ErrServerClosed when closed
	text, err := json.Marshal(controlFile{Socket: socket, PID: os.Getpid()})
	if err == nil {
		err = writeFile(c.file, text, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), c.close(context.Background()))
	}
	return c, nil
}

// listenControl listens on a socket in a private folder of its own. $XDG_RUNTIME_DIR comes first: a service with a private
// /tmp shares that with the programs of its operator.
func listenControl() (listener net.Listener, dir string, err error) {
	bases := []string{os.TempDir(), "/tmp"}
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" {
		bases = append([]string{run}, bases...)
	}
	var failed []error
	for _, base := range bases {
		if dir, err = os.MkdirTemp(base, "daawo-"); err != nil { // mode 0700
			failed = append(failed, err)
			continue
		}
		socket := filepath.Join(dir, "control")
		if len(socket) > maxControlPath {
			err = fmt.Errorf("the path of %s is too long for a unix socket", socket)
		} else if listener, err = net.Listen("unix", socket); err == nil {
			return listener, dir, nil
		}
		failed = append(failed, err, os.RemoveAll(dir))
	}
	return nil, "", errors.Join(failed...)
}

// close ends it after the replies that are on their way: the one to `stop` is.
func (c *control) close(ctx context.Context) error {
	err := os.Remove(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(c.server.Shutdown(ctx), err, os.RemoveAll(c.dir))
}

// Command asks the server that runs on a data folder. Where none runs it returns ErrNotRunning; where one does that cannot
// be asked, another error.
func Command(ctx context.Context, data, name string, reply any) error {
	file, err := readControl(data)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", file.Socket)
		},
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control"+name, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(r)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the server on %s belongs to another user: %w", data, err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		if Locked(data) {
			return fmt.Errorf("a server runs on %s, but its control socket %s cannot be reached: "+
				"if it is not just starting, run this command where the server runs (it may have a /tmp of its own, as in a container), "+
				"or restart the server with XDG_RUNTIME_DIR set to a folder that both can reach", data, file.Socket)
		}
		return fmt.Errorf("%w on %s", ErrNotRunning, data) // a file that a killed server left behind
	}
	if err != nil {
		return fmt.Errorf("the server on %s did not answer: %w", data, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(string(bytes.TrimSpace(body)))
	}
	return json.Unmarshal(body, reply)
}

func readControl(data string) (controlFile, error) {
	var file controlFile
	text, err := os.ReadFile(filepath.Join(data, controlName))
	if errors.Is(err, fs.ErrNotExist) {
		if Locked(data) {
			return file, fmt.Errorf("a server or another command runs on %s and takes no commands: it may be starting or stopping; try again in a moment", data)
		}
		return file, fmt.Errorf("%w on %s", ErrNotRunning, data)
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	return file, err
}

// writeFile replaces a file in one step, so that a reader sees the old or the new one.
func writeFile(name string, text []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing once renamed
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
