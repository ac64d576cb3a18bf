package storage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"daawo/supabase/internal/engine/storage/backend/backendtest"
)

// decryptProgress decrypts the column upload_signature as storage-api does.
func decryptProgress(t *testing.T, passphrase, column string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(column)
	if err != nil || len(raw) < 32 || string(raw[:8]) != "Salted__" || len(raw)%aes.BlockSize != 0 {
		t.Fatalf("upload_signature is %q, %v", column, err)
	}
	seed := passphrase + string(raw[8:16])
	a := md5.Sum([]byte(seed))
	b := md5.Sum([]byte(string(a[:]) + seed))
	iv := md5.Sum([]byte(string(b[:]) + seed))
	block, err := aes.NewCipher(append(a[:], b[:]...))
	if err != nil {
		t.Fatal(err)
	}
	text := raw[16:]
	cipher.NewCBCDecrypter(block, iv[:]).CryptBlocks(text, text)
	return strings.TrimRight(string(text), "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10")
}

// TestS3UploadSignature checks after each step of a multipart upload that storage-api could
// continue it: the column upload_signature contains in_progress_size, encrypted with the configured
// key.
func TestS3UploadSignature(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(o *Options) { o.EncryptionKey = "encryption key" })
	s.bucket("b", false)
	send := s.s3Sender()
	conn := s.db.Conn("supabase_admin")
	check := func(want int64) {
		t.Helper()
		var size int64
		var column string
		if err := conn.QueryRow(t.Context(),
			`select in_progress_size, upload_signature from storage.s3_multipart_uploads`).Scan(&size,
			&column); err != nil {
			t.Fatal(err)
		}
		if got := decryptProgress(t, "encryption key", column); size != want || got != "progress:"+
			strconv.FormatInt(want, 10) {
			t.Errorf("%d bytes reserved, signature %q, want %d", size, got, want)
		}
	}
	id := send("POST", "/b/a?uploads", "").want(t, 200, "UploadId").between("<UploadId>", "</UploadId>")
	check(0)
	send("PUT", "/b/a?partNumber=1&uploadId="+id, "123").want(t, 200, "")
	check(3)
	send("PUT", "/b/a?partNumber=1&uploadId="+id, "12345").want(t, 200, "") // replaces the first
	check(5)
	send("PUT", "/b/a?partNumber=2&uploadId="+id, "12").want(t, 200, "")
	check(7)
}

// TestS3PartETags checks that the ETag of a part has quotes on S3 and none on disk. storage-api
// compares the client's text with the hash when it completes an upload on disk.
func TestS3PartETags(t *testing.T) {
	t.Parallel()
	const hash = "202cb962ac59075b964b07152d234b70"
	onS3 := newStack(t, func(o *Options) { o.Backend = backendtest.S3(t) })
	for want, s := range map[string]*stack{hash: newStack(t), `"` + hash + `"`: onS3} {
		s.bucket("b", false)
		send := s.s3Sender()
		id := send("POST", "/b/a?uploads", "").want(t, 200, "UploadId").between("<UploadId>", "</UploadId>")
		part := send("PUT", "/b/a?partNumber=1&uploadId="+id, "123").want(t, 200, "")
		listed := send("GET", "/b/a?uploadId="+id, "").between("<ETag>", "</ETag>")
		if got := part.Header.Get("Etag"); got != want || strings.ReplaceAll(listed, "&#34;", `"`) != want {
			t.Errorf("ETag %s, listed as %s, want %s", got, listed, want)
		}
		for _, sent := range []string{hash, `"` + hash + `"`} {
			send("POST", "/b/a?uploadId="+id, "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"+sent+
				"</ETag></Part></CompleteMultipartUpload>").
				want(t, 200, "CompleteMultipartUploadResult")
			id = send("POST", "/b/a?uploads", "").between("<UploadId>", "</UploadId>")
			send("PUT", "/b/a?partNumber=1&uploadId="+id, "123").want(t, 200, "")
		}
	}
}
