package s3

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"mime"
	"regexp"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

var mediaType = regexp.MustCompile(`^\s*[^\s/;]+/[^\s/;]+\s*(?:;|$)`)

// document decodes the request body into v: JSON if Content-Type says so, otherwise XML, whose root
// element is name. present is false if the body is empty.
func (c *call) document(name string, v any) (present bool, err error) {
	data, err := readBody(c.body)
	if err != nil {
		return false, err
	}
	header := c.r.Header.Get("Content-Type")
	if header != "" && !mediaType.MatchString(header) {
		return false, apierror.Errorf(415, "InvalidRequest", "Unsupported Media Type")
	}
	if kind, _, _ := mime.ParseMediaType(header); kind == "application/json" {
		return true, decodeJSON(data, name, v)
	}
	return decodeXML(data, name, v)
}

func readBody(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = malformed("the document is too large")
	}
	return data, err
}

func malformed(problem string) *apierror.Error {
	return apierror.Errorf(400, "MalformedXML", "Invalid XML payload: %s", problem)
}

func decodeXML(data []byte, name string, v any) (present bool, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return false, nil
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	var root xml.StartElement
	for root.Name.Local == "" {
		token, err := d.Token()
		if err != nil {
			return true, malformed(err.Error())
		}
		root, _ = token.(xml.StartElement)
	}
	if root.Name.Local != name {
		if err := d.Skip(); err != nil {
			return true, malformed(err.Error())
		}
		return true, objects.ErrInvalidRequest("Body must have required property '" + name + "'")
	}
	if err := d.DecodeElement(v, &root); err != nil {
		return true, malformed(err.Error())
	}
	return true, nil
}

func decodeJSON(data []byte, name string, v any) error {
	if len(data) == 0 {
		return objects.ErrInvalidRequest("Body cannot be empty when content-type is set to 'application/json'")
	}
	if !json.Valid(data) {
		return objects.ErrInvalidRequest("Body is not valid JSON but content-type is set to 'application/json'")
	}
	var doc map[string]json.RawMessage
	if json.Unmarshal(data, &doc) != nil || doc == nil {
		return objects.ErrInvalidRequest("Body must be object")
	}
	if doc[name] == nil {
		return nil
	}
	if json.Unmarshal(doc[name], v) != nil {
		return objects.ErrInvalidRequest("Body, " + name + " must be object")
	}
	return nil
}

// text is a string in XML, and a string or a number in JSON.
type text string

// UnmarshalJSON accepts any JSON value.
func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	*t = text(s)
	return nil
}

// maxPartNumber is the largest number of a part in S3.
const maxPartNumber = 10_000

// partNumber parses the number of a part, which the error names.
func partNumber(s, name string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	problem := ""
	switch {
	case err != nil:
		problem = "integer"
	case n < 1:
		problem = ">= 1"
	case n > maxPartNumber:
		problem = fmt.Sprintf("<= %d", maxPartNumber)
	default:
		return n, nil
	}
	return 0, objects.ErrInvalidRequest(name + " must be " + problem)
}
