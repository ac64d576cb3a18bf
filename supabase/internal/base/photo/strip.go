package photo

import (
	"bytes"
	"fmt"
)

// Scrub returns an image without its metadata: EXIF with position, camera and thumbnail, XMP, IPTC,
// comments, names in color profiles, and data after the end such as the video of a motion photo. It
// does not decode the pixels, so nothing of their quality is lost, and it needs memory for one copy
// of the file. The orientation stays. It returns ErrFormat for a file that it cannot read
// completely, and ErrTooLarge for a file over 64 MiB.
func Scrub(data []byte) (clean []byte, contentType string, err error) {
	if len(data) > 64<<20 {
		return nil, "", fmt.Errorf("%w: more than 64 MiB", ErrTooLarge)
	}
	info, err := Probe(data)
	if err != nil {
		return nil, "", err
	}
	clean, err = strip(data, info)
	if err != nil {
		return nil, "", err
	}
	return clean, info.Format.ContentType(), nil
}

// Strip returns a picture without its metadata, with the type it then has, within the default
// limits. A picture without metadata stays as it is, except HEIC, which most browsers do not show.
// ok is false if the file cannot be read. See edge.Env.CleanImage.
func Strip(content []byte) (clean []byte, contentType string, ok bool) {
	if clean, contentType, err := Scrub(content); err == nil && bytes.Equal(clean, content) &&
		contentType != HEIF.ContentType() {
		return content, contentType, true
	}
	clean, contentType, flag, err := Clean(bytes.NewReader(content), Limits{})
	return clean, contentType, err == nil && flag != Untouched
}
