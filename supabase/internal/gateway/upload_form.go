package gateway

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// upload is the body of an upload in three parts, so that the file can be replaced.
type upload struct {
	head, file, tail []byte // head and tail are empty unless the body is a form
	hasFile          bool
}

func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "multipart/form-data")
}

// maxUploadFields limits the fields of a form, as storage-api does.
const maxUploadFields = 11

var errUploadForm = errors.New("broken form")

// readUpload reads the body of an upload. Of a form it keeps the fields and the first file, and
// writes them again, so that every service reads the same file in it. The file may have one byte
// more than maxFile.
func readUpload(r *http.Request, maxFile int64) (*upload, error) {
	if !isMultipart(r) {
		file, err := readSized(r.Body, r.ContentLength, maxFile)
		return &upload{file: file, hasFile: true}, err
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, errUploadForm
	}
	u := &upload{}
	parts := multipart.NewReader(r.Body, params["boundary"])
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	var fields bytes.Buffer // those after the file
	after := multipart.NewWriter(&fields)
	_ = after.SetBoundary(form.Boundary())
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil || n > maxUploadFields {
			return nil, errUploadForm
		}
		if isFilePart(part) {
			if u.hasFile {
				continue
			}
			if u.file, err = readSized(part, r.ContentLength, maxFile); err != nil {
				return nil, err
			}
			u.hasFile = true
			if _, err := form.CreatePart(fileHeader(part)); err != nil {
				return nil, err
			}
			if _, err := io.Copy(io.Discard, part); err != nil {
				return nil, err
			}
			continue
		}
		to := form
		if u.hasFile {
			to = after
		}
		value, err := io.ReadAll(io.LimitReader(part, formOverhead+1))
		if err != nil || len(value) > formOverhead {
			return nil, errUploadForm
		}
		if err := to.WriteField(part.FormName(), string(value)); err != nil {
			return nil, err
		}
	}
	u.head = head.Bytes()
	switch {
	case fields.Len() > 0:
		u.tail = []byte("\r\n")
		_ = after.Close() // a bytes.Buffer never fails
	case u.hasFile:
		u.tail = []byte("\r\n--" + form.Boundary() + "--\r\n")
	default:
		_ = form.Close()
		u.head = head.Bytes()
	}
	u.tail = append(u.tail, fields.Bytes()...)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return u, nil
}

// isFilePart reports whether storage takes a part as a file: it has a file name, even an empty one,
// or the type application/octet-stream.
func isFilePart(p *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err == nil {
		if _, ok := params["filename"]; ok {
			return true
		}
	}
	return p.Header.Get("Content-Type") == "application/octet-stream"
}

// fileHeader returns the header of a file's part with nothing but its names and its type.
func fileHeader(p *multipart.Part) textproto.MIMEHeader {
	quote := strings.NewReplacer("\\", "\\\\", `"`, "\\\"", "\r", "", "\n", "")
	h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + quote.Replace(p.FormName()) +
		`"; filename="file"`}}
	if kind := p.Header.Get("Content-Type"); kind != "" {
		h.Set("Content-Type", kind)
	}
	return h
}

// readSized reads at most one byte more than most. declared is the probable size, or -1.
func readSized(r io.Reader, declared, most int64) ([]byte, error) {
	var b bytes.Buffer
	if declared > 0 {
		b.Grow(int(min(declared, most)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(r, most+1))
	return b.Bytes(), err
}

// storeReply is the reply of storage to an upload, held back until it is known to be the last one.
type storeReply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (s *storeReply) Header() http.Header { return s.header }

func (s *storeReply) WriteHeader(status int) {
	if s.status == 0 && status >= 200 {
		s.status = status
	}
}

func (s *storeReply) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	if s.body.Len()+len(p) > maxStoreReply {
		return 0, errors.New("the reply of storage is too long")
	}
	return s.body.Write(p)
}

// Flush does nothing: the reply is sent as a whole.
func (s *storeReply) Flush() {}

// taken reports whether storage refused the upload because its name is taken.
func (s *storeReply) taken() bool {
	return s.status >= 400 &&
		(s.status == http.StatusConflict || bytes.Contains(s.body.Bytes(), []byte(`"statusCode":"409"`)))
}

func (s *storeReply) send(w http.ResponseWriter) {
	h := w.Header()
	maps.Copy(h, s.header)
	h.Set("Content-Length", strconv.Itoa(s.body.Len()))
	s.status = cmp.Or(s.status, http.StatusOK)
	w.WriteHeader(s.status)
	_, _ = w.Write(s.body.Bytes()) // the client may have disconnected
}
