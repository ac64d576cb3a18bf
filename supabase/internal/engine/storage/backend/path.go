package backend

import (
	"fmt"
	"path"
	"strings"
)

// Limits of a key: S3's for its length, and the file systems' for the length of a path segment.
const (
	maxKeyBytes     = 1024
	maxSegmentBytes = 255
)

// relative returns the path of a key below the tenant's folder. It returns ErrInvalidKey if the key
// is too long, contains a NUL, or has a segment "." or "..", where a backslash separates segments
// as well.
func (k Key) relative() (string, error) {
	whole := k.Bucket + "/" + k.Name
	if k.Version != "" {
		whole += "/" + k.Version
	}
	if k.Bucket == "" || k.Name == "" || len(k.Name) > maxKeyBytes || strings.ContainsRune(whole, 0) ||
		strings.Contains(k.Bucket, "/") || strings.Contains(k.Version, "/") {
		return "", fmt.Errorf("%w: %q", ErrInvalidKey, whole)
	}
	for _, segment := range strings.FieldsFunc(whole, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." || len(segment) > maxSegmentBytes {
			return "", fmt.Errorf("%w: %q", ErrInvalidKey, whole)
		}
	}
	return path.Clean(whole), nil
}

// Check returns ErrInvalidKey if the key is not valid in any backend.
func (k Key) Check() error {
	_, err := k.relative()
	return err
}

// uploadPath returns the folder of a multipart upload, or ErrNotFound if the id is not a valid
// folder name.
func uploadPath(id string) (string, error) {
	if id == "" || strings.ContainsAny(id, "/\\\x00") || id == "." || id == ".." || len(id) > maxSegmentBytes {
		return "", fmt.Errorf("%w: upload %q", ErrNotFound, id)
	}
	return path.Join("multiparts", id), nil
}
