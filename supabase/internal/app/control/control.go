// Package control lets the operator's commands reach the running server: it sends them, receives
// them on a unix socket, and answers those about functions.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/base/tempdir"
)

// maxPath is the longest path that the kernel allows for a unix socket, in bytes.
const maxPath = 107

// Server receives commands of the operator on a unix socket. The socket is in a private temporary
// folder, because the path of a data folder may be too long for a socket.
type Server struct {
	server *http.Server
	dir    *tempdir.Dir // of the socket
	data   string
	socket string
}

// Start listens for commands. commands maps paths to functions that return the reply. Paths
// below /functions/ that it lacks go to functions.
func Start(data string, commands map[string]func(context.Context) (any, error), functions http.Handler) (*Server,
	error) {
	listener, dir, err := listen()
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	socket := listener.Addr().String()
	c := &Server{dir: dir, data: data, socket: socket}
	c.server = &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			command, ok := commands[r.URL.Path]
			if !ok && functions != nil && strings.HasPrefix(r.URL.Path, "/functions/") {
				functions.ServeHTTP(w, r)
				return
			}
			if !ok {
				http.Error(w, "the running server does not know this command; it may be older than this program: restart it", http.StatusNotFound)
				return
			}
			reply, err := command(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(reply) // the client may have disconnected
		}),
	}
	go c.server.Serve(listener) //nolint:errcheck // it always returns ErrServerClosed
	if err := datadir.WriteServer(data, datadir.Server{Socket: socket, PID: os.Getpid()}); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), c.Close(context.Background()))
	}
	return c, nil
}

// listen listens on a socket in a new private folder. It tries $XDG_RUNTIME_DIR first: a
// service with a private /tmp shares that folder with the commands of its operator.
func listen() (listener net.Listener, dir *tempdir.Dir, err error) {
	var failed []error
	for _, base := range socketBases() {
		if dir, err = tempdir.New(base, "control"); err != nil {
			failed = append(failed, err)
			continue
		}
		socket := filepath.Join(dir.Path, "control")
		if len(socket) > maxPath {
			err = fmt.Errorf("the path of %s is too long for a unix socket", socket)
		} else if listener, err = net.Listen("unix", socket); err == nil {
			return listener, dir, nil
		}
		failed = append(failed, err, dir.Remove())
	}
	return nil, nil, errors.Join(failed...)
}

// socketBases returns the folders in which the private folder of the socket may be, the best
// first.
func socketBases() []string {
	bases := []string{os.TempDir(), "/tmp"}
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" {
		bases = append([]string{run}, bases...)
	}
	return slices.Compact(bases)
}

// RemoveLeftFolders deletes the private folders of processes that were killed, of this and of other
// servers.
func RemoveLeftFolders(log *slog.Logger) {
	for _, base := range socketBases() {
		if err := tempdir.Sweep(base); err != nil {
			log.Warn("folders of killed processes were not removed", "folder", base, "error", err)
		}
	}
}

// Close stops listening after the replies in flight, such as the reply to `stop`.
// The file belongs to the next process if this one was replaced.
func (s *Server) Close(ctx context.Context) error {
	err := datadir.RemoveServer(s.data, datadir.Server{Socket: s.socket})
	return errors.Join(s.server.Shutdown(ctx), err, s.dir.Remove())
}

// Command sends a command to the server that runs on a data folder and decodes its JSON into reply.
// It returns datadir.ErrNotRunning if no server runs there, and another error if the server cannot
// be reached.
func Command(ctx context.Context, data, name string, reply any) error {
	return CommandWith(ctx, data, http.MethodPost, name, nil, reply)
}

// CommandWith is Command with a method and a body. name may have a query.
func CommandWith(ctx context.Context, data, method, name string, content io.Reader, reply any) error {
	file, err := datadir.ReadServer(data)
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
	r, err := http.NewRequestWithContext(ctx, method, "http://control"+name, content)
	if err != nil {
		return err
	}
	res, err := client.Do(r)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the server on %s belongs to another user: %w", data, err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		if datadir.Locked(data) {
			return fmt.Errorf("a server runs on %s, but its control socket %s cannot be reached: "+
				"if it is not starting, run this command where the server runs (it may have a private /tmp, as in a container), "+
				"or restart the server with XDG_RUNTIME_DIR set to a folder that both can access", data, file.Socket)
		}
		return datadir.NotRunning(data) // a killed server left the file
	}
	if err != nil {
		return fmt.Errorf("the server on %s did not reply: %w", data, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		var said struct{ Message string } // of a refused deployment
		if json.Unmarshal(body, &said) == nil && said.Message != "" {
			return errors.New(said.Message)
		}
		return errors.New(string(bytes.TrimSpace(body)))
	}
	return json.Unmarshal(body, reply)
}
