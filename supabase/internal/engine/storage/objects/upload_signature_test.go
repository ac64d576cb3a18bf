package objects

import (
	"bytes"
	"encoding/base64"
	"testing"
)

// TestUploadSignature compares the encryption with the output of printf progress:42 | openssl enc
// -aes-256-cbc -md md5 -S 0102030405060708 -pass pass:encryptionkey -base64
func TestUploadSignature(t *testing.T) {
	salt := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	text, err := sealProgress("encryptionkey", salt, 42)
	if err != nil {
		t.Fatal(err)
	}
	got, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := base64.StdEncoding.DecodeString("wlyMIxGsijR5wL8ngp6CgA==")
	if err != nil {
		t.Fatal(err)
	}
	if want := bytes.Join([][]byte{[]byte("Salted__"), salt, encrypted}, nil); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
