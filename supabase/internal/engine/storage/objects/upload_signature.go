package objects

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"strconv"
)

// uploadSignature returns the column upload_signature for the number of bytes that have been
// reserved for an upload. storage-api refuses the next part unless it can decrypt the column and
// finds the number of in_progress_size. The format is the output of "openssl enc -aes-256-cbc -md
// md5 -base64" with a passphrase.
func uploadSignature(passphrase string, reserved int64) (string, error) {
	salt := make([]byte, 8)
	rand.Read(salt) // never fails
	return sealProgress(passphrase, salt, reserved)
}

func sealProgress(passphrase string, salt []byte, reserved int64) (string, error) {
	key, iv := passphraseKey(passphrase, salt)
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	text := []byte("progress:" + strconv.FormatInt(reserved, 10))
	padding := aes.BlockSize - len(text)%aes.BlockSize
	text = append(text, bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	return base64.StdEncoding.EncodeToString(append(append([]byte("Salted__"), salt...), text...)), nil
}

// passphraseKey derives key and iv as OpenSSL does without -pbkdf2. MD5 is part of the format.
func passphraseKey(passphrase string, salt []byte) (key, iv []byte) {
	var derived, last []byte
	for len(derived) < 48 {
		sum := md5.Sum(append(append(last, passphrase...), salt...))
		last = sum[:]
		derived = append(derived, last...)
	}
	return derived[:32], derived[32:48]
}
