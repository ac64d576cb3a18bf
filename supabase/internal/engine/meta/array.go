package meta

// arrayOf returns the encoder of an array: nested JSON arrays of its elements.
func arrayOf(element encoder) encoder {
	return func(out, value []byte) []byte {
		p := arrayReader{text: value, element: element}
		p.skipBounds()
		return p.array(out)
	}
}

// arrayReader reads the text form of an array (PostgreSQL documentation, "Array Input and Output
// Syntax"). It reads what Postgres writes.
type arrayReader struct {
	text    []byte
	at      int
	element encoder
	scratch []byte
}

// skipBounds skips the bounds before an array that does not start at 1: [0:1]={…}.
func (p *arrayReader) skipBounds() {
	if len(p.text) == 0 || p.text[0] != '[' {
		return
	}
	for p.at < len(p.text) && p.text[p.at] != '{' {
		p.at++
	}
}

// array appends the array that starts at the reader's place.
func (p *arrayReader) array(out []byte) []byte {
	out = append(out, '[')
	p.at++ // {
	for first := true; p.at < len(p.text) && p.text[p.at] != '}'; first = false {
		if p.text[p.at] == ',' {
			p.at++
		}
		if !first {
			out = append(out, ',')
		}
		if p.at < len(p.text) && p.text[p.at] == '{' {
			out = p.array(out)
			continue
		}
		out = p.item(out)
	}
	p.at++ // }
	return append(out, ']')
}

// item appends one element.
func (p *arrayReader) item(out []byte) []byte {
	p.scratch = p.scratch[:0]
	quoted := p.at < len(p.text) && p.text[p.at] == '"'
	if quoted {
		p.at++
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		if quoted && c == '"' {
			p.at++
			break
		}
		if !quoted && (c == ',' || c == '}') {
			break
		}
		if c == '\\' && p.at+1 < len(p.text) {
			p.at++
			c = p.text[p.at]
		}
		p.scratch = append(p.scratch, c)
		p.at++
	}
	if !quoted && string(p.scratch) == "NULL" {
		return append(out, "null"...)
	}
	return p.element(out, p.scratch)
}
