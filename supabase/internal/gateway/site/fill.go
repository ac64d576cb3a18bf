package site

import (
	"bytes"
	"html"
	"strings"

	nethtml "golang.org/x/net/html"
)

// Values maps the name of a placeholder to the text that replaces it: in pages __NAME__ stands for
// NAME. Some placeholders stand inside scripts, so the values must hold no character that ends a
// string or a tag (config checks this).
type Values map[string]string

// replacer replaces placeholders; in markup the values are escaped.
func (v Values) replacer(markup bool) *strings.Replacer {
	var pairs []string
	for name, value := range v {
		if markup {
			value = html.EscapeString(value)
		}
		pairs = append(pairs, "__"+name+"__", value)
	}
	return strings.NewReplacer(pairs...)
}

func fillText(data []byte, v Values, markup bool) []byte {
	if !bytes.Contains(data, []byte("__")) {
		return data
	}
	return []byte(v.replacer(markup).Replace(string(data)))
}

// fillPage fills the placeholders of a page. Values are escaped in text and attributes, but not
// inside <script>, whose content HTML does not decode.
func fillPage(page []byte, v Values) []byte {
	if !bytes.Contains(page, []byte("__")) {
		return page
	}
	markup, raw := v.replacer(true), v.replacer(false)
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
			out.WriteString(raw.Replace(text))
			continue
		}
		out.WriteString(markup.Replace(text))
		if name, _ := z.TagName(); string(name) == "script" {
			inScript = kind == nethtml.StartTagToken
		}
	}
}
