package physical

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// dropping is an object store that confirms objects which it has not stored as they were sent.
type dropping struct {
	*s3mem.Backend
	keep func(body []byte) []byte // what is stored; nil stores nothing
}

// PutObject stores what keep returns.
func (d dropping) PutObject(bucket, name string, meta map[string]string, in io.Reader, size int64,
	conditions *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	body, err := io.ReadAll(in)
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	if body = d.keep(body); body == nil {
		return gofakes3.PutObjectResult{}, nil
	}
	return d.Backend.PutObject(bucket, name, meta, bytes.NewReader(body), int64(len(body)), conditions)
}

// TestConfirmedButNotStored checks that the confirmation of an object does not count without the
// object.
func TestConfirmedButNotStored(t *testing.T) {
	for name, c := range map[string]struct {
		keep func([]byte) []byte
		good bool
	}{
		"all":  {func(b []byte) []byte { return b }, true},
		"none": {func([]byte) []byte { return nil }, false},
		"half": {func(b []byte) []byte { return b[:len(b)/2] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := bucketOn(t, dropping{s3mem.New(), c.keep})
			if err := store.Put(t.Context(), "wal/1", strings.NewReader("segment")); (err == nil) != c.good {
				t.Errorf("got error %v", err)
			}
		})
	}
}
