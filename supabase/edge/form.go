package edge

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
)

// FormLimits are the limits of ReadForm. Zero allows nothing of that kind.
type FormLimits struct {
	Fields     int   // number of fields
	FieldBytes int64 // bytes of one field
	Files      int   // number of files; empty files do not count
	FileBytes  int64 // bytes of one file; a larger file gets TooLarge and no content
}

// Form is a posted HTML form.
type Form struct {
	Values url.Values
	Files  map[string]File // by field; a field without a chosen file is missing
}

// File is one uploaded file. Name and Type come from the client and can be wrong.
type File struct {
	Name, Type string
	Content    []byte
	TooLarge   bool
}

// IsForm reports whether the body is a form, URL-encoded or multipart.
func IsForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data"
}

// ReadForm reads a URL-encoded or multipart form. Its errors are of type *Error, with status 400,
// 413 or 415.
func ReadForm(r *http.Request, most FormLimits) (*Form, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return nil, Errorf(http.StatusUnsupportedMediaType, "not_a_form", "The body must be a form.")
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		return readEncoded(r, most)
	case "multipart/form-data":
		f := &Form{Values: url.Values{}, Files: map[string]File{}}
		return f, f.readParts(multipart.NewReader(r.Body, params["boundary"]), r.ContentLength, most)
	default:
		return nil, Errorf(http.StatusUnsupportedMediaType, "not_a_form", "The body must be a form.")
	}
}

func readEncoded(r *http.Request, most FormLimits) (*Form, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(most.Fields)*(3*most.FieldBytes+200)+1))
	if err != nil {
		return nil, bodyError(err)
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &Error{Status: http.StatusBadRequest, Code: "bad_form", Message: "The form could not be read.",
			Err: err}
	}
	n := 0
	for _, vs := range values {
		for _, v := range vs {
			if n++; n > most.Fields || int64(len(v)) > most.FieldBytes {
				return nil, formTooLarge()
			}
		}
	}
	return &Form{Values: values, Files: map[string]File{}}, nil
}

// readParts reads a multipart body. size is its length, or -1.
func (f *Form) readParts(parts *multipart.Reader, size int64, most FormLimits) error {
	for fields, files := 0, 0; ; {
		p, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return formError(err)
		}
		limit := most.FieldBytes
		if p.FileName() != "" {
			limit = most.FileBytes
		}
		var read bytes.Buffer
		if p.FileName() != "" && size > 0 {
			read.Grow(int(min(size, limit)) + bytes.MinRead) // otherwise its memory would double while it grows
		}
		if _, err := read.ReadFrom(io.LimitReader(p, limit+1)); err != nil {
			return formError(err)
		}
		content := read.Bytes()
		tooLarge := int64(len(content)) > limit
		switch {
		case p.FileName() == "" && p.Header.Get("Content-Type") != "" && len(content) == 0:
			// a file field without a chosen file
		case p.FileName() == "":
			if fields++; fields > most.Fields || tooLarge {
				return formTooLarge()
			}
			f.Values.Add(p.FormName(), string(content))
		case len(content) > 0:
			if files++; files > most.Files {
				return formTooLarge()
			}
			if tooLarge {
				content = nil
				if _, err := io.Copy(io.Discard, p); err != nil {
					return formError(err)
				}
			}
			f.Files[p.FormName()] = File{Name: p.FileName(), Type: p.Header.Get("Content-Type"), Content: content,
				TooLarge: tooLarge}
		}
	}
}

func formTooLarge() *Error {
	return Errorf(http.StatusRequestEntityTooLarge, "form_too_large", "The form has too many or too long fields.")
}

func formError(err error) error {
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return bodyError(err)
	}
	return &Error{Status: http.StatusBadRequest, Code: "bad_form", Message: "The form could not be read.", Err: err}
}
