package deploy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/functions/host"
)

// deployPath is the path below /functions/v1 at which a client with a deploy token deploys.
const deployPath = "_deploy"

// State is the reply to a GET request of the deployment handler.
type State struct {
	OS       string    `json:"os"`
	Arch     string    `json:"arch"`
	Protocol int       `json:"protocol"`
	Current  string    `json:"current"` // id, or BuiltIn
	Versions []Version `json:"versions"`
}

// Handler deploys for callers that the server trusts, such as the control socket. GET / lists the
// versions, POST / deploys the body, POST /rollback?to=ID switches to another version. message and
// force are further parameters.
func (d *Deployer) Handler(via string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		id, _ := d.Functions()
		_ = edge.WriteJSON(w, http.StatusOK, State{runtime.GOOS, runtime.GOARCH, host.Protocol, id, d.store.list()})
	})
	mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		v, err := d.Deploy(r.Context(), http.MaxBytesReader(w, r.Body, d.MaxBytes+1), q.Get("message"),
			q.Get("force") == "true")
		d.answer(w, r, "functions deployed", via, v, err)
	})
	mux.HandleFunc("POST /rollback", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		v, err := d.Rollback(r.Context(), q.Get("to"), q.Get("force") == "true")
		d.answer(w, r, "functions rolled back", via, v, err)
	})
	return mux
}

// answer logs and sends the result of a change.
func (d *Deployer) answer(w http.ResponseWriter, r *http.Request, what, via string, v Version, err error) {
	switch {
	case errors.Is(err, ErrBusy):
		host.Fail(w, http.StatusConflict, "BUSY", err.Error())
	case err != nil:
		d.Log.WarnContext(r.Context(), "version of the functions refused", "via", via, "error", err)
		host.Fail(w, http.StatusUnprocessableEntity, "REFUSED", err.Error())
	default:
		d.Log.InfoContext(r.Context(), what, "version", v.ID, "sha256", v.SHA256, "via", via)
		_ = edge.WriteJSON(w, http.StatusOK, v)
	}
}

// tokenName is the file with the hash of the deploy token.
const tokenName = "deploy-token.json"

// tokenFile is the content of tokenName.
type tokenFile struct {
	SHA256  string    `json:"sha256"`
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at"`
}

// NewToken makes the deploy token, which replaces an older one. Only its hash is kept. Its holder
// can run programs in the jail of functions.
func (d *Deployer) NewToken(lives time.Duration) (token string, expires time.Time, err error) {
	token = "deploy_" + rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(token))
	now := time.Now().UTC().Truncate(time.Second)
	file := tokenFile{hex.EncodeToString(sum[:]), now, now.Add(lives)}
	text, err := json.Marshal(file)
	if err != nil {
		return "", expires, err
	}
	if err := atomicfile.MkdirAll(d.Dir, 0o700); err != nil {
		return "", expires, err
	}
	return token, file.Expires, atomicfile.WriteFile(filepath.Join(d.Dir, tokenName), text, 0o600)
}

// RevokeToken makes the deploy token invalid.
func (d *Deployer) RevokeToken() error {
	err := os.Remove(filepath.Join(d.Dir, tokenName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// remote deploys for a client with the deploy token. Without a valid token the path does not exist.
func (d *Deployer) remote(w http.ResponseWriter, r *http.Request) {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !d.validToken(r.Context(), given) {
		host.NotFound(w)
		return
	}
	http.StripPrefix("/"+deployPath, rooted(d.Handler("token"))).ServeHTTP(w, r)
}

// rooted turns an empty path into /.
func rooted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "" {
			r.URL.Path = "/"
		}
		next.ServeHTTP(w, r)
	})
}

func (d *Deployer) validToken(ctx context.Context, given string) bool {
	text, err := os.ReadFile(filepath.Join(d.Dir, tokenName))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.Log.ErrorContext(ctx, "cannot read the deploy token", "error", err)
		}
		return false
	}
	var file tokenFile
	if err := json.Unmarshal(text, &file); err != nil {
		d.Log.ErrorContext(ctx, "cannot read the deploy token", "error", err)
		return false
	}
	sum := sha256.Sum256([]byte(given))
	same := subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(file.SHA256)) == 1
	return same && time.Now().Before(file.Expires)
}
