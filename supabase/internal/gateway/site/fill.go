package site

import (
	"bytes"
	"html"
	"strings"

	nethtml "golang.org/x/net/html"
)

// replacer puts the values in, escaped for markup where they stand in it.
func (v Values) replacer(markup bool) *strings.Replacer {
	escape := func(s string) string { return s }
	if markup {
		escape = html.EscapeString
	}
	return strings.NewReplacer(
		"__SITE_URL__", escape(v.SiteURL),
		"__WHATSAPP_NUMBER__", escape(v.WhatsApp),
		"__CONTACT_EMAIL__", escape(v.ContactEmail),
		"__FACEBOOK_URL__", escape(v.FacebookURL),
	)
}

func fillText(data []byte, v Values, markup bool) []byte {
	if !bytes.Contains(data, []byte("__")) {
		return data
	}
	return []byte(v.replacer(markup).Replace(string(data)))
}

// fillPage fills a page: escaped in text and attributes, as it is inside <script>, whose content HTML does not decode.
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
			out.WriteString(text) // a tag that the end of the file cut off
			return out.Bytes()
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
