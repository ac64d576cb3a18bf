package s3

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestChecksumOfKnownLength checks that a reader that knows the length of a body does not get it
// whole if its checksum is wrong.
func TestChecksumOfKnownLength(t *testing.T) {
	const text = "123456789"
	for _, tt := range []struct {
		sum   string
		wrong error
	}{{"JfnnlDI7RTiF9RgfG2JNCw==", nil}, {"AAAAlDI7RTiF9RgfG2JNCw==", errBadDigest}} {
		r := httptest.NewRequest("PUT", "/", nil)
		r.Header.Set("Content-Md5", tt.sum)
		body, err := withChecksums(r, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(text))
		n, err := io.ReadFull(&whole{body, int64(len(text))}, got)
		if !errors.Is(err, tt.wrong) || (n == len(text)) != (tt.wrong == nil) {
			t.Errorf("%s: %d bytes, %v", tt.sum, n, err)
		}
	}
}
