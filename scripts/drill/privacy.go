package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"daawo/scripts/server"
)

// privacyDrill uploads photos of many generators without a report and with planted positions and
// serial numbers. It searches for the planted values in every file of the installation, the
// write-ahead log among them, in the backup store, and in an installation that is restored from it.
func privacyDrill(ctx context.Context, s settings) (string, error) {
	store, err := os.MkdirTemp("", "daawo-backups-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(store)
	spool, err := os.MkdirTemp("", "daawo-spool-") // bodies on their way
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(spool)
	st, err := server.New(ctx, s.binary, "BACKUP_TO="+store, "TMPDIR="+spool)
	if err != nil {
		return "", err
	}
	defer st.Close()
	files := plantedPhotos()
	control := []byte("no-metadata-control-5b1e77")
	stored, refused := 0, []string{}
	for i, f := range files {
		reply, err := uploadPlanted(ctx, st, i, f)
		if err != nil {
			return "", err
		}
		switch {
		case reply.status < 300:
			stored++
		case bytes.Contains(reply.body, []byte("invalid_image")):
			refused = append(refused, f.name)
		default:
			return "", fmt.Errorf("%s: status %d: %s", f.name, reply.status, reply.body)
		}
	}
	// A control: a value that the search must find, in a name of a report.
	if o, _, _ := submit(ctx, st, string(control)); o != accepted {
		return "", errors.New("the control report was not accepted")
	}
	if err := awaitBackup(ctx, st); err != nil {
		return "", err
	}
	if _, err := st.Run(ctx, "backup"); err != nil {
		return "", err
	}
	st.Stop() // Postgres writes its buffers
	var broken []error
	look := func(what, dir string, wantControl bool) int {
		hits, found, n, err := searchPlanted(dir, control)
		if err != nil {
			broken = append(broken, err)
		}
		if len(hits) > 0 {
			broken = append(broken, fmt.Errorf("%s holds planted values: %s", what, strings.Join(hits, ", ")))
		}
		if wantControl && !found {
			broken = append(broken, fmt.Errorf("%s: the search does not find the control value", what))
		}
		return n
	}
	searched := look("the installation", st.Data(), true)
	searched += look("the backup store", store, false) // compressed
	searched += look("the folder of bodies on their way", spool, false)
	if err := restore(ctx, st, "--from", store); err != nil {
		return "", err
	}
	searched += look("the restored installation", st.Data(), true)
	figures := fmt.Sprintf("%d photos uploaded without a report, %d refused (%s), %d files searched for %d values",
		stored, len(refused), strings.Join(refused, ", "), searched, 2)
	if stored < 40 || len(refused) > 0 {
		broken = append(broken, fmt.Errorf("%d photos accepted and %d refused", stored, len(refused)))
	}
	return figures, errors.Join(broken...)
}

// uploadPlanted uploads a photo as a visitor: raw or as a form in turn. It first checks that the
// file holds its values.
func uploadPlanted(ctx context.Context, st *server.Stack, i int, f plantedPhoto) (answer, error) {
	for _, value := range []string{plantedPosition, plantedSerial} {
		if !bytes.Contains(f.content, []byte(value)) {
			return answer{}, fmt.Errorf("%s has no %s", f.name, value)
		}
	}
	body, kind := f.content, f.kind
	if i%2 == 1 {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		_ = w.WriteField("cacheControl", "3600")
		part, err := w.CreatePart(map[string][]string{"Content-Disposition": {`form-data; name=""; filename="IMG.jpg"`},
			"Content-Type": {f.kind}})
		if err != nil {
			return answer{}, err
		}
		_, _ = part.Write(f.content)
		_ = w.Close()
		body, kind = form.Bytes(), w.FormDataContentType()
	}
	claim := base64.StdEncoding.EncodeToString([]byte(`{"claim":"drill"}`))
	a := call{path: photoPath + fmt.Sprintf("%d.jpg", 1_700_000_000_000+i), method: http.MethodPost,
		key: st.Get("ANON_KEY"), kind: kind, body: body, header: map[string]string{"X-Metadata": claim}}.send(ctx, st)
	return a, a.err
}

// searchPlanted searches every file below dir for the planted values. found says whether it saw the
// control value.
func searchPlanted(dir string, control []byte) (hits []string, found bool, n int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // files of a running server come and go
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		n++
		found = found || bytes.Contains(content, control)
		for _, value := range []string{plantedPosition, plantedSerial} {
			if bytes.Contains(content, []byte(value)) {
				hits = append(hits, filepath.Base(path)+" "+value)
			}
		}
		return nil
	})
	return hits, found, n, err
}
