package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/tracing"
)

// spanService is the service.name of the spans of processes of functions.
const spanService = "functions"

// maxPicture is the largest picture that a process of functions can send to its parent, in bytes.
const maxPicture = 64 << 20

// ParentServer serves to processes of functions what only this program can do: the operations of
// the stack, cleaning pictures, whose decoders need more memory than such a process may have, and
// exporting spans.
type ParentServer struct {
	// Address starts the server at its first call and returns its URL, with a password. It has a
	// port of this machine, because processes of functions may not open Unix sockets.
	Address func() (string, error)

	server *http.Server
}

// NewParentServer returns a server with the operations and the CleanImage of a host. Close ends it.
func NewParentServer(h *Host) *ParentServer {
	password := rand.Text()
	s := &ParentServer{server: &http.Server{Handler: withPassword(password, parentHandler(h)),
		ReadHeaderTimeout: 10 * time.Second}}
	s.Address = sync.OnceValues(func() (string, error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		go func() {
			if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				h.Log.Error("functions processes cannot reach this one", "error", err)
			}
		}()
		address := url.URL{Scheme: "http", User: url.UserPassword("functions", password), Host: listener.Addr().String()}
		return address.String(), nil
	})
	return s
}

// withPassword refuses requests of other programs of this machine.
func withPassword(password string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); subtle.ConstantTimeCompare([]byte(given), []byte(password)) != 1 {
			http.Error(w, "this port is for the functions of the server", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Close waits for the requests of processes until ctx ends. Call it after the processes have ended.
func (s *ParentServer) Close(ctx context.Context) error { return s.server.Shutdown(ctx) }

func parentHandler(h *Host) http.Handler {
	decoding := make(chan struct{}, 1) // holds a value while a picture is cleaned, which may take 256 MB
	mux := http.NewServeMux()
	mux.HandleFunc("POST /operations/{name}", func(w http.ResponseWriter, r *http.Request) {
		result, err := h.services.Operate(r.Context(), r.URL.Query().Get("function"), r.PathValue("name"))
		var known *edge.Error
		switch {
		case errors.As(err, &known):
			known.Write(w)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
		default:
			_ = edge.WriteJSON(w, http.StatusOK, result) // the process reports a broken connection
		}
	})
	mux.HandleFunc("POST /tokens", func(w http.ResponseWriter, r *http.Request) {
		token, err := io.ReadAll(http.MaxBytesReader(w, r.Body, http.DefaultMaxHeaderBytes))
		if err != nil || h.Verify == nil {
			http.Error(w, "the token cannot be checked", http.StatusBadRequest)
			return
		}
		claims, err := h.Verify(string(token))
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(claims) // the process reports a broken connection
	})
	mux.HandleFunc("POST /pictures", func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPicture))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		select {
		case decoding <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		defer func() { <-decoding }()
		clean, contentType, ok := h.services.CleanImage(content)
		if !ok {
			http.Error(w, "the picture cannot be read", http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(clean) // the process reports a broken connection
	})
	mux.HandleFunc("POST /spans", func(w http.ResponseWriter, r *http.Request) {
		if err := h.Traces.Take(r.Context(), spanService,
			http.MaxBytesReader(w, r.Body, tracing.ForwardSize)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// Parent is the stack's program for a process of functions. It counts and logs the calls of the
// process, which it forwards.
type Parent struct {
	client  *http.Client
	address *url.URL
	log     *slog.Logger
}

// NewParent returns the parent whose ParentServer has this address.
func NewParent(address string, log *slog.Logger) (*Parent, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the parent is no URL") // without the password
	}
	// Without a proxy: the parent is on this machine.
	return &Parent{&http.Client{Transport: &http.Transport{DisableCompression: true}}, at, log}, nil
}

// Operate runs an operation of the stack for a function, see edge.Env.Operate.
func (p *Parent) Operate(ctx context.Context, function, name string) (json.RawMessage, error) {
	status, _, body, err := p.post(ctx, "/operations/"+url.PathEscape(name)+"?function="+url.QueryEscape(function), nil)
	if err != nil || status == http.StatusOK {
		return body, err
	}
	if status == http.StatusBadGateway {
		return nil, errors.New(strings.TrimSpace(string(body)))
	}
	known := &edge.Error{Status: status}
	if err := json.Unmarshal(body, known); err != nil {
		return nil, fmt.Errorf("operation %s: status %d: %w", name, status, err)
	}
	return nil, known
}

// Verify returns the claims of a token that own verifies, or asks the parent if no key of own fits.
// The process has no key for tokens that are signed with a secret, because it could sign others.
func (p *Parent) Verify(token string, own *keys.Verifier) (json.RawMessage, error) {
	claims, err := own.Verify(token)
	if err == nil {
		return claims.Raw, nil
	}
	if _, unknown := errors.AsType[*keys.AlgorithmError](err); !unknown && !errors.Is(err, keys.ErrKey) {
		return nil, err
	}
	status, _, body, err := p.post(context.Background(), "/tokens", []byte(token))
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, errors.New(strings.TrimSpace(string(body)))
	}
	return body, nil
}

// CleanImage removes the metadata of a picture, see edge.Env.CleanImage.
func (p *Parent) CleanImage(content []byte) (clean []byte, contentType string, ok bool) {
	status, contentType, clean, err := p.post(context.Background(), "/pictures", content)
	if err != nil {
		p.log.Error("picture not cleaned", "error", err)
	}
	return clean, contentType, err == nil && status == http.StatusOK
}

// spanDelay is how long a span waits for others in a process of functions. The parent waits again,
// for more of them.
const spanDelay = time.Second

// Traces returns the provider of a process of functions, whose spans the parent exports.
func (p *Parent) Traces(ctx context.Context) (*tracing.Provider, error) {
	send := func(ctx context.Context, spans []byte) error {
		status, _, body, err := p.post(ctx, "/spans", spans)
		if err == nil && status != http.StatusNoContent {
			err = fmt.Errorf("the spans were refused with status %d: %s", status, bytes.TrimSpace(body))
		}
		return err
	}
	return tracing.Open(ctx, tracing.Options{Service: spanService, Exporter: tracing.Forward(send), Delay: spanDelay})
}

func (p *Parent) post(ctx context.Context, path string, content []byte) (status int, contentType string, body []byte,
	err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address.String()+path, bytes.NewReader(content))
	if err != nil {
		return 0, "", nil, err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, res.Header.Get("Content-Type"), body, err
}
