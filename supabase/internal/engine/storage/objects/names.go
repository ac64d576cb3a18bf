package objects

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Patterns of what storage-api accepts. Names consist of the characters that S3 documents as safe
// or as needing special handling; non-ASCII letters are refused.
var (
	objectName = regexp.MustCompile(`^[A-Za-z0-9_/!.*'() &$=@;:+,?-]+$`)
	bucketName = regexp.MustCompile(`^[A-Za-z0-9_!.*'() &$=@;:+,?-]{1,100}$`)
	mimeType   = regexp.MustCompile(`^([a-zA-Z0-9\-+.]+)/([a-zA-Z0-9\-+.]+)(;\s*charset=[a-zA-Z0-9\-]+)?$|\*$`)
	fileSize   = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?)(gb|mb|kb|b)$`)
)

// reservedSuffix is the suffix of Iceberg table buckets.
const reservedSuffix = "--table-s3"

// CheckName returns ErrInvalidKey unless name is a valid object name. S3 keys have at most 1,024
// bytes.
func CheckName(name string) error {
	if len(name) > 1024 || !objectName.MatchString(name) {
		return ErrInvalidKey(name)
	}
	return nil
}

// CheckBucketName returns ErrInvalidBucketName unless name is a valid bucket name.
func CheckBucketName(name string) error {
	if !bucketName.MatchString(name) {
		return ErrInvalidBucketName()
	}
	return nil
}

// IsFolderPlaceholder reports whether the object is the empty file that Studio stores to keep a
// folder.
func IsFolderPlaceholder(name string) bool { return strings.HasSuffix(name, ".emptyFolderPlaceholder") }

// ParseSize parses "20MB", "1.5kb" or "3B" into bytes: powers of 1000, three significant digits.
func ParseSize(s string) (int64, error) {
	m := fileSize.FindStringSubmatch(s)
	if m == nil {
		return 0, ErrInvalidRequest("Invalid file size format, hint: use 20GB / 20MB / 30KB / 3B")
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, ErrInvalidRequest("Invalid file size format, hint: use 20GB / 20MB / 30KB / 3B")
	}
	value, err = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 3, 64), 64)
	if err != nil {
		return 0, err
	}
	switch strings.ToUpper(m[2]) {
	case "GB":
		value *= 1e9
	case "MB":
		value *= 1e6
	case "KB":
		value *= 1e3
	}
	if value > math.MaxInt64/2 {
		return math.MaxInt64 / 2, nil
	}
	return int64(value), nil
}

// CheckMimeType returns ErrMimeType unless t is one of the allowed types; image/* allows every
// image.
func CheckMimeType(t string, allowed []string) error {
	kind, sub, ok := strings.Cut(t, "/")
	if !ok {
		return ErrMimeType(t)
	}
	sub, _, _ = strings.Cut(sub, "/")
	for _, a := range allowed {
		akind, asub, _ := strings.Cut(a, "/")
		if akind == kind && (asub == "*" || asub == sub) {
			return nil
		}
	}
	return ErrMimeType(t)
}

// SandboxPolicy is the Content-Security-Policy of documents that could run scripts.
const SandboxPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// Scriptable reports whether a browser may run scripts in documents of this type.
func Scriptable(contentType string) bool {
	t := strings.ToLower(contentType)
	return strings.Contains(t, "svg") || strings.Contains(t, "xml") || strings.Contains(t, "html")
}

// checkMimeTypes returns ErrMimeType if an entry of the list is not a valid type.
func checkMimeTypes(types []string) error {
	for _, t := range types {
		if len(t) > 1000 || !mimeType.MatchString(t) {
			return ErrMimeType(t)
		}
	}
	return nil
}
