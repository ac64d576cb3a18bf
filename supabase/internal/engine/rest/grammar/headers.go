package grammar

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
)

// Prefer parses the Prefer headers. Without allowTx it ignores the preference tx.
func Prefer(headers []string, allowTx bool) ast.Preferences {
	var p ast.Preferences
	once := func(to *string, value string) {
		*to = cmp.Or(*to, value)
	}
	for _, h := range headers {
		for part := range strings.SplitSeq(h, ",") {
			part = strings.TrimSpace(part)
			name, value, _ := strings.Cut(part, "=")
			switch part {
			case "resolution=merge-duplicates", "resolution=ignore-duplicates":
				once(&p.Resolution, value)
			case "return=representation", "return=minimal", "return=headers-only":
				once(&p.Return, value)
			case "count=exact", "count=planned", "count=estimated":
				once(&p.Count, value)
			case "tx=commit", "tx=rollback":
				if allowTx {
					once(&p.Tx, value)
				}
			case "missing=default", "missing=null":
				once(&p.Missing, value)
			case "handling=strict", "handling=lenient":
				once(&p.Handling, value)
			default:
				switch name {
				case "timezone":
					if p.Timezone == nil {
						p.Timezone = &value
					}
				case "max-affected":
					if n, err := strconv.ParseInt(value, 10, 64); err == nil && p.MaxAffected == nil {
						p.MaxAffected = &n
					}
				default:
					p.Invalid = append(p.Invalid, part)
				}
			}
		}
	}
	return p
}

// Accept parses the Accept headers into media types, the preferred one first. No header means any
// type.
func Accept(headers []string) []ast.MediaType {
	if len(headers) == 0 {
		return []ast.MediaType{{Kind: ast.MediaAny}}
	}
	type choice struct {
		text     string
		quality  float64
		specific int
	}
	var choices []choice
	for part := range strings.SplitSeq(headers[0], ",") {
		part = strings.ReplaceAll(part, " ", "")
		c := choice{text: part, quality: 1, specific: strings.Count(part, ";") - strings.Count(part, "*")}
		if i := strings.Index(part, ";q="); i >= 0 {
			c.text = part[:i]
			c.specific = strings.Count(c.text, ";") - strings.Count(c.text, "*")
			if q, err := strconv.ParseFloat(part[i+3:], 64); err == nil {
				c.quality = q
			}
		}
		choices = append(choices, c)
	}
	slices.SortStableFunc(choices, func(a, b choice) int {
		switch {
		case a.quality != b.quality && a.quality > b.quality:
			return -1
		case a.quality != b.quality:
			return 1
		default:
			return b.specific - a.specific
		}
	})
	types := make([]ast.MediaType, len(choices))
	for i, c := range choices {
		types[i] = MediaType(c.text)
	}
	return types
}

// MediaType parses one media type with its parameters.
func MediaType(s string) ast.MediaType {
	main, params := splitMediaType(s)
	kind := func(k ast.MediaKind) ast.MediaType { return ast.MediaType{Kind: k} }
	stripped := params["nulls"] == "stripped"
	switch strings.ToLower(main) {
	case "application/json":
		return kind(ast.MediaJSON)
	case "application/geo+json":
		return kind(ast.MediaGeoJSON)
	case "text/csv":
		return kind(ast.MediaCSV)
	case "text/plain":
		return kind(ast.MediaText)
	case "text/xml":
		return kind(ast.MediaXML)
	case "application/openapi+json":
		return kind(ast.MediaOpenAPI)
	case "application/x-www-form-urlencoded":
		return kind(ast.MediaForm)
	case "application/octet-stream":
		return kind(ast.MediaBytes)
	case "application/vnd.pgrst.plan", "application/vnd.pgrst.plan+text":
		return plan(params, false)
	case "application/vnd.pgrst.plan+json":
		return plan(params, true)
	case "application/vnd.pgrst.object+json", "application/vnd.pgrst.object":
		if stripped {
			return kind(ast.MediaObjectStripped)
		}
		return kind(ast.MediaObject)
	case "application/vnd.pgrst.array+json", "application/vnd.pgrst.array":
		if stripped {
			return kind(ast.MediaArrayStripped)
		}
		return kind(ast.MediaJSON)
	case "*/*":
		return kind(ast.MediaAny)
	default:
		return ast.MediaType{Kind: ast.MediaOther, Name: s}
	}
}

// plan returns the media type of a query plan.
func plan(params map[string]string, json bool) ast.MediaType {
	m := ast.MediaType{Kind: ast.MediaPlan, For: ast.MediaJSON, JSON: json}
	if f, ok := params["for"]; ok {
		inner := MediaType(f)
		m.For, m.ForName = inner.Kind, inner.Name
	}
	asked := strings.Split(params["options"], "|")
	var known []string
	for _, o := range [...]string{"analyze", "verbose", "settings", "buffers", "wal"} {
		if slices.Contains(asked, o) {
			known = append(known, o)
		}
	}
	m.Options = strings.Join(known, "|")
	return m
}

// splitMediaType separates a media type from its parameters, whose names it converts to lower case.
// It stops at a malformed parameter.
func splitMediaType(s string) (string, map[string]string) {
	main, rest, _ := strings.Cut(s, ";")
	params := map[string]string{}
	for rest != "" {
		key, after, ok := strings.Cut(strings.TrimLeft(rest, " "), "=")
		if !ok {
			break
		}
		key, after = strings.ToLower(strings.TrimSpace(key)), strings.TrimLeft(after, " ")
		var value string
		if strings.HasPrefix(after, `"`) {
			if value, rest, ok = strings.Cut(after[1:], `"`); !ok {
				break
			}
			_, rest, _ = strings.Cut(rest, ";")
		} else {
			value, rest, _ = strings.Cut(after, ";")
			value = strings.TrimSpace(value)
		}
		params[key] = value
	}
	return strings.TrimSpace(main), params
}

// Range parses a Range header of rows, "0-9" or "10-". Any other value means all rows.
func Range(header string) (r ast.Range, huge ast.Huge) {
	lo, hi, ok := strings.Cut(header, "-")
	if !ok || !digits(lo) || lo == "" || !digits(hi) {
		return ast.AllRows(), huge
	}
	r = ast.AllRows()
	n, _, large := integer(lo)
	if r.Lo = n; large {
		huge.Offset = lo
	}
	if hi == "" {
		return r, huge
	}
	if r.Hi, _, large = integer(hi); large {
		var first, last big.Int
		first.SetString(lo, 10)
		last.SetString(hi, 10)
		limit := last.Add(&last, big.NewInt(1)).Sub(&last, &first)
		if limit.Sign() <= 0 {
			return ast.Range{Lo: 1, Hi: 0}, ast.Huge{}
		}
		if !limit.IsInt64() {
			huge.Limit = limit.String()
		}
	}
	return r, huge
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
