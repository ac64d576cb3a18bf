package s3

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
)

// The aws-chunked encoding sends a body in chunks. The signature of each chunk covers the previous
// chunk's signature (S3 API reference, "Signature Calculations for the Authorization Header:
// Transferring Payload in Multiple Chunks").

const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

var (
	errChunk   = apierror.Errorf(400, "InvalidRequest", "The request body is not in aws-chunked form")
	errPayload = apierror.Errorf(400, "XAmzContentSHA256Mismatch",
		"The provided 'x-amz-content-sha256' header does not match what was computed.")
	errShort = apierror.Errorf(400, "IncompleteBody",
		"You did not provide the number of bytes specified by the Content-Length HTTP header")
)

// body returns the decoded payload of the request and its length (-1: unknown). Reading fails if
// the payload does not match its signature.
func (s *signature) body(r *http.Request, secret string) (io.Reader, int64, error) {
	if !strings.HasPrefix(s.payload, "STREAMING-") {
		if len(s.payload) == 64 {
			return &hashed{r: r.Body, sum: sha256.New(), want: s.payload}, r.ContentLength, nil
		}
		return r.Body, r.ContentLength, nil
	}
	length, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return nil, 0, apierror.Errorf(400, "MissingContentLength", "You must provide the Content-Length HTTP header.")
	}
	c := &chunked{r: bufio.NewReader(r.Body), left: length, trailer: strings.HasSuffix(s.payload, "-TRAILER"),
		previous: s.value}
	switch strings.TrimSuffix(s.payload, "-TRAILER") {
	case "STREAMING-UNSIGNED-PAYLOAD":
	case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
		c.key, c.scope = s.key(secret), s.at.Format(timeLayout)+"\n"+
			strings.Join([]string{s.date, s.region, s.service, "aws4_request"}, "/")
		c.sum = sha256.New()
	default:
		return nil, 0, apierror.Errorf(400, "NotSupported", "The payload signature %s is not supported", s.payload)
	}
	return c, length, nil
}

// hashed is a reader that compares the hash of the body with the signed hash at the end.
type hashed struct {
	r    io.Reader
	sum  hash.Hash
	want string
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.sum.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(h.sum.Sum(nil)) != h.want {
		return n, errPayload
	}
	return n, err
}

// chunked is a reader that decodes aws-chunked encoding.
type chunked struct {
	r        *bufio.Reader
	left     int64 // bytes left of the decoded length
	trailer  bool
	key      []byte // nil: chunks are not signed
	scope    string
	previous string // signature of the previous chunk
	sum      hash.Hash
	chunk    int64  // bytes left of the current chunk
	sig      string // signature of the current chunk
	inside   bool
	trailed  map[string]string // checksums after the last chunk
	err      error
}

func (c *chunked) Read(p []byte) (int, error) {
	for c.err == nil {
		if c.inside && c.chunk > 0 {
			if int64(len(p)) > c.chunk {
				p = p[:c.chunk]
			}
			n, err := c.r.Read(p)
			c.chunk -= int64(n)
			c.left -= int64(n)
			if c.sum != nil {
				c.sum.Write(p[:n])
			}
			if err == io.EOF {
				err = errShort
			}
			if c.left < 0 {
				err = errShort
			}
			if err != nil {
				c.err = err
			}
			return n, c.err
		}
		c.err = c.next()
	}
	return 0, c.err
}

// next verifies the current chunk and reads the header of the next one. After the last chunk it
// reads the trailers and returns io.EOF.
func (c *chunked) next() error {
	if c.inside {
		if err := c.endOfLine(); err != nil {
			return err
		}
		if err := c.verify(); err != nil {
			return err
		}
	}
	header, err := c.line()
	if err != nil {
		return err
	}
	size, extension, _ := strings.Cut(header, ";")
	n, err := strconv.ParseUint(size, 16, 40)
	if err != nil {
		return errChunk
	}
	c.chunk, c.inside = int64(n), true
	c.sig = strings.TrimPrefix(extension, "chunk-signature=")
	if c.key != nil && len(c.sig) != 64 {
		return errChunk
	}
	if n > 0 {
		return nil
	}
	if err := c.verify(); err != nil {
		return err
	}
	if c.left != 0 {
		return errShort
	}
	return c.trailers()
}

func (c *chunked) verify() error {
	if c.key == nil {
		return nil
	}
	text := "AWS4-HMAC-SHA256-PAYLOAD\n" + c.scope + "\n" + c.previous + "\n" + emptyHash + "\n" +
		hex.EncodeToString(c.sum.Sum(nil))
	want := hex.EncodeToString(mac(c.key, text))
	if subtle.ConstantTimeCompare([]byte(want), []byte(c.sig)) != 1 {
		return errMismatch
	}
	c.previous = c.sig
	c.sum.Reset()
	return nil
}

// maxTrailer is the largest size of the trailers, in bytes.
const maxTrailer = 8 << 10

// trailers reads the checksums after the last chunk up to the empty line, and verifies their
// signature if the body is signed.
func (c *chunked) trailers() error {
	var text bytes.Buffer
	signed, lines := "", 0
	for {
		line, err := c.line()
		if errors.Is(err, errShort) && !c.trailer && text.Len() == 0 {
			return io.EOF // some clients omit the last empty line
		}
		if err != nil {
			return err
		}
		if line == "" {
			break
		}
		lines++
		if value, ok := strings.CutPrefix(line, "x-amz-trailer-signature:"); ok {
			signed = strings.TrimSpace(value)
			continue
		}
		if text.Len()+len(line) > maxTrailer {
			return errChunk
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return errChunk
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		text.WriteString(name + ":" + value + "\n")
		if c.trailed == nil {
			c.trailed = map[string]string{}
		}
		c.trailed[name] = value
	}
	if c.trailer && lines == 0 {
		return errChunk
	}
	if c.trailer && c.key != nil {
		sum := sha256.Sum256(text.Bytes())
		want := hex.EncodeToString(mac(c.key, "AWS4-HMAC-SHA256-TRAILER\n"+c.scope+"\n"+c.previous+"\n"+
			hex.EncodeToString(sum[:])))
		if subtle.ConstantTimeCompare([]byte(want), []byte(signed)) != 1 {
			return errMismatch
		}
	}
	return io.EOF
}

// maxLine is the longest header of a chunk and the longest trailer, in bytes.
const maxLine = 1 << 10

func (c *chunked) line() (string, error) {
	var line []byte
	for {
		b, err := c.r.ReadByte()
		if err == io.EOF {
			return "", errShort
		}
		if err != nil {
			return "", err
		}
		if b == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		if line = append(line, b); len(line) > maxLine {
			return "", errChunk
		}
	}
}

func (c *chunked) endOfLine() error {
	line, err := c.line()
	if err == nil && line != "" {
		return errChunk
	}
	return err
}
