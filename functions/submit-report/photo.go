package submitreport

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strconv"

	"daawo/functions/edge"
)

const photoBucket = "report-photos"

// photoName matches the name that the site gives a photo: the time in milliseconds and the original extension (spec §7).
var photoName = regexp.MustCompile(`^(\d{13}(\.[A-Za-z0-9]{1,5})?)?$`)

// imageType detects the type of a file from its first bytes, not from the Content-Type of the browser. ok is false for a type
// that the bucket refuses, such as SVG.
func imageType(content []byte) (mime, extension string, ok bool) {
	switch mime := http.DetectContentType(content); mime {
	case "image/jpeg":
		return mime, ".jpg", true
	case "image/png", "image/webp", "image/gif", "image/bmp":
		return mime, "." + mime[len("image/"):], true
	}
	// ISO base media files name their brand after "ftyp" (ISO/IEC 14496-12 §4.3; HEIF and AVIF brands by their RFCs).
	if len(content) >= 12 && bytes.Equal(content[4:8], []byte("ftyp")) {
		switch string(content[8:12]) {
		case "heic", "heix", "hevc", "hevx", "heim", "heis":
			return "image/heic", ".heic", true
		case "mif1", "msf1":
			return "image/heif", ".heif", true
		case "avif", "avis":
			return "image/avif", ".avif", true
		}
	}
	return "", "", false
}

// upload stores a photo under the current time and returns its name. If the name is taken, it tries the next milliseconds.
// Row level security does not apply to the service role, so upload calls the policy's function itself: it fails when too many
// photos wait for their report.
func upload(ctx context.Context, env *edge.Env, content []byte) (string, error) {
	mime, extension, _ := imageType(content)
	now := env.Now().UnixMilli()
	named := func(at int64) string { return strconv.FormatInt(at, 10) + extension }
	asking := env.Batch(edge.Service)
	asking.Queue(`select private.may_upload_report_photo($1)`, named(now))
	if err := asking.Send(ctx); err != nil {
		return "", err
	}
	for at, attempt := now, 1; ; at, attempt = at+1, attempt+1 {
		name := named(at)
		err := env.Upload(ctx, photoBucket, name, mime, content)
		if e, ok := edge.AsError(err); ok && e.Status == http.StatusConflict && attempt < 10 {
			continue
		}
		return name, err
	}
}
