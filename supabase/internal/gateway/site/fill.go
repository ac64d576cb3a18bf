package site

import (
	"bytes"
	"fmt"
	"html"
	"path"
	"strings"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"
)

// Values maps the name of a placeholder to the text that replaces it: in pages __NAME__ stands for
// NAME.
type Values map[string]string

// replacer replaces placeholders by the escaped values.
func (v Values) replacer(escape func(string) string) *strings.Replacer {
	var pairs []string
	for name, value := range v {
		pairs = append(pairs, "__"+name+"__", escape(value))
	}
	return strings.NewReplacer(pairs...)
}

// fillText fills the placeholders of a file that is no page, by the kind of the file.
func fillText(name string, data []byte, v Values) []byte {
	if !bytes.Contains(data, []byte("__")) {
		return data
	}
	escape := func(s string) string { return s }
	switch path.Ext(name) {
	case ".xml", ".svg":
		escape = html.EscapeString
	case ".js", ".json", ".webmanifest":
		escape = escapeScript
	}
	return []byte(v.replacer(escape).Replace(string(data)))
}

// escapeScript returns the inside of a string of JSON or JavaScript. It escapes each character that
// could end the string, start an expression or end a <script>.
func escapeScript(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r >= utf8.RuneSelf || r >= ' ' && !strings.ContainsRune("\"'`<>\\$", r) {
			if r != '\u2028' && r != '\u2029' { // line separators end a string in older browsers
				out.WriteRune(r)
				continue
			}
		}
		fmt.Fprintf(&out, `\u%04x`, r)
	}
	return out.String()
}

// fillPage fills the placeholders of a page. HTML decodes text and attributes, but not the content
// of <script>, where placeholders stand in strings.
func fillPage(page []byte, v Values) []byte {
	if !bytes.Contains(page, []byte("__")) {
		return page
	}
	markup, script := v.replacer(html.EscapeString), v.replacer(escapeScript)
	var out bytes.Buffer
	inScript := false
	z := nethtml.NewTokenizer(bytes.NewReader(page))
	for {
		kind := z.Next()
		text := string(z.Raw())
		if kind == nethtml.ErrorToken {
			out.WriteString(text) // a tag cut off by the end of the file
			return bytes.Clone(out.Bytes())
		}
		if kind == nethtml.TextToken && inScript {
			out.WriteString(script.Replace(text))
			continue
		}
		out.WriteString(markup.Replace(text))
		if name, _ := z.TagName(); string(name) == "script" {
			inScript = kind == nethtml.StartTagToken
		}
	}
}
