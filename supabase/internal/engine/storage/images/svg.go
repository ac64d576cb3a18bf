package images

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
)

// svgType is the content type of a picture that stays an SVG.
const svgType = "image/svg+xml"

// active are the elements that sanitise removes with their content.
var active = []string{"script", "iframe", "object", "embed", "foreignobject"}

// handlers matches attributes that run scripts.
var handlers = regexp.MustCompile(`(?is)\s(?:on\w+|(?:xlink:)?href\s*=\s*["']\s*javascript\s*:[^"']*["'])` +
	`(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?`)

// sanitise returns an SVG without scripts, and false if data is not an SVG. imgproxy does the same
// with an SVG whose format stays, and does not resize it.
func sanitise(data []byte) (out []byte, ok bool) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	removed, root := 0, false // removed is the depth inside of an active element
	for start := int64(0); ; start = d.InputOffset() {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return out, root && removed == 0
		}
		if err != nil {
			return nil, false
		}
		text := data[start:d.InputOffset()]
		switch t := token.(type) {
		case xml.StartElement:
			name := strings.ToLower(t.Name.Local)
			if !root && name != "svg" {
				return nil, false
			}
			root = true
			if removed > 0 || slices.Contains(active, name) {
				removed++
			}
			text = handlers.ReplaceAll(text, nil)
		case xml.EndElement:
			if removed > 0 {
				removed--
				continue
			}
		case xml.Directive, xml.ProcInst:
			if root {
				continue
			}
		}
		if removed == 0 {
			out = append(out, text...)
		}
	}
}
