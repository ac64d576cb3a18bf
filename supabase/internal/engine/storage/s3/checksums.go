package s3

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"net/http"
	"slices"
	"strings"

	"daawo/supabase/internal/base/apierror"
)

// checksums are the algorithms of the headers and trailers x-amz-checksum-… (S3 API reference,
// "Checking object integrity"). The polynomial of CRC-64/NVME is reflected.
var checksums = map[string]func() hash.Hash{
	"x-amz-checksum-crc32":     func() hash.Hash { return crc32.NewIEEE() },
	"x-amz-checksum-crc32c":    func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"x-amz-checksum-crc64nvme": func() hash.Hash { return crc64.New(crc64.MakeTable(0x9a6c9329ac4bc9b5)) },
	"x-amz-checksum-sha1":      sha1.New,
	"x-amz-checksum-sha256":    sha256.New,
}

const (
	contentMD5     = "content-md5"
	checksumPrefix = "x-amz-checksum-"
)

// aboutChecksums are headers with checksumPrefix that hold no checksum.
var aboutChecksums = []string{"x-amz-checksum-algorithm", "x-amz-checksum-mode", "x-amz-checksum-type"}

// checkAlgorithm returns an error for the name of a checksum that cannot be verified.
func checkAlgorithm(name string) error {
	if _, ok := checksums[name]; ok || !strings.HasPrefix(name, checksumPrefix) || slices.Contains(aboutChecksums, name) {
		return nil
	}
	return apierror.Errorf(400, "InvalidRequest", "The algorithm type you specified in x-amz-checksum- header is invalid.")
}

var (
	errBadDigest = apierror.Errorf(400, "BadDigest",
		"The Content-MD5 or checksum value that you specified did not match what the server received.")
	errInvalidDigest = apierror.Errorf(400, "InvalidDigest",
		"The Content-MD5 or checksum value that you specified is not valid.")
	errTrailer = apierror.Errorf(400, "MalformedTrailerError",
		"The request contained a trailing checksum that x-amz-trailer does not declare.")
)

// checked is a reader that compares checksums of a body with the client's at the end.
type checked struct {
	r       io.Reader
	sums    map[string]hash.Hash // by the name of the header
	want    map[string]string    // in base64
	trailer func() map[string]string
}

// withChecksums returns a reader that also verifies the checksums that the request declares. Those
// of the completion of a multipart upload are about the object and not about the body.
func withChecksums(r *http.Request, body io.Reader) (io.Reader, error) {
	c := &checked{r: body, sums: map[string]hash.Hash{}, want: map[string]string{}}
	if value := r.Header.Get(contentMD5); value != "" {
		c.sums[contentMD5], c.want[contentMD5] = md5.New(), value
	}
	for name := range r.Header {
		if err := checkAlgorithm(strings.ToLower(name)); err != nil {
			return nil, err
		}
	}
	completes := r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
	for name, algorithm := range checksums {
		if value := r.Header.Get(name); value != "" && !completes {
			c.sums[name], c.want[name] = algorithm(), value
		}
	}
	for name, value := range c.want {
		if sum, err := base64.StdEncoding.DecodeString(value); err != nil || len(sum) != c.sums[name].Size() {
			return nil, errInvalidDigest
		}
	}
	if chunks, ok := body.(*chunked); ok && chunks.trailer {
		c.trailer = func() map[string]string { return chunks.trailed }
		for name := range strings.SplitSeq(r.Header.Get("X-Amz-Trailer"), ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if err := checkAlgorithm(name); err != nil {
				return nil, err
			}
			if algorithm, ok := checksums[name]; ok {
				c.sums[name] = algorithm()
			}
		}
	}
	if len(c.sums) == 0 && c.trailer == nil {
		return body, nil
	}
	return c, nil
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for _, sum := range c.sums {
		sum.Write(p[:n])
	}
	if err != io.EOF {
		return n, err
	}
	if c.trailer != nil {
		for name := range c.trailer() {
			if _, ok := c.sums[name]; !ok && strings.HasPrefix(name, checksumPrefix) {
				return n, errTrailer
			}
		}
	}
	for name, sum := range c.sums {
		want, ok := c.want[name]
		if !ok {
			want = c.trailer()[name]
		}
		got := base64.StdEncoding.EncodeToString(sum.Sum(nil))
		if subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {
			return n, errBadDigest
		}
	}
	return n, err
}

// whole is a reader that returns the last bytes of a body only if its end is right. A reader that
// knows the length, as that of a part for a store, does not ask for the end.
type whole struct {
	r    io.Reader
	left int64
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.left -= int64(n)
	for w.left == 0 && n > 0 && err == nil {
		var more [1]byte
		var long int
		if long, err = w.r.Read(more[:]); long > 0 {
			return 0, errShort
		}
	}
	if err != nil && err != io.EOF {
		return 0, err
	}
	return n, err
}
