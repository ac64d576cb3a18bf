package backend

import (
	"fmt"
	"path"
	"strings"
)

// Limits of one key: S3's for the whole, the file systems' for one step of it.
const (
	maxKeyBytes  = 1024
	maxStepBytes = 255
)

// relative gives the path of a key below the root of a tenant, or ErrInvalidKey when it is none: too long, with a NUL, a
// backslash step or a step that is . or .., which a file system would resolve.
func (k Key) relative() (string, error) {
	whole := k.Bucket + "/" + k.Name
	if k.Version != "" {
		whole += "/" + k.Version
	}
	if k.Bucket == "" || k.Name == "" || len(k.Name) > maxKeyBytes || strings.ContainsRune(whole, 0) ||
		strings.Contains(k.Bucket, "/") || strings.Contains(k.Version, "/") {
		return "", fmt.Errorf("%w: %q", ErrInvalidKey, whole)
	}
	for _, step := range strings.FieldsFunc(whole, func(r rune) bool { return r == '/' || r == '\\' }) {
		if step == "." || step == ".." || len(step) > maxStepBytes {
			return "", fmt.Errorf("%w: %q", ErrInvalidKey, whole)
		}
	}
	return path.Clean(whole), nil
}

// Check says whether the key can be one of any backend, so that nothing else need be done for one that cannot.
func (k Key) Check() error {
	_, err := k.relative()
	return err
}

// uploadPath checks the id of a multipart upload before it becomes part of a path.
func uploadPath(id string) (string, error) {
	if id == "" || strings.ContainsAny(id, "/\\\x00") || id == "." || id == ".." || len(id) > maxStepBytes {
		return "", fmt.Errorf("%w: upload %q", ErrNotFound, id)
	}
	return path.Join("multiparts", id), nil
}
