package submitreport

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"daawo/supabase/edge"
)

const photoBucket = "report-photos"

// photoName matches the name that the site gives a photo: the time in milliseconds and the original
// extension (spec §7).
var photoName = regexp.MustCompile(`^(\d{13}(\.[A-Za-z0-9]{1,5})?)?$`)

// imageType detects the type of a file from its first bytes, not from the Content-Type of the
// browser. ok is false for a type that the bucket refuses, such as SVG.
func imageType(content []byte) (mime, extension string, ok bool) {
	switch mime := http.DetectContentType(content); mime {
	case "image/jpeg":
		return mime, ".jpg", true
	case "image/png", "image/webp", "image/gif", "image/bmp":
		return mime, "." + mime[len("image/"):], true
	}
	// ISO base media files name their brand after "ftyp" (ISO/IEC 14496-12 §4.3; HEIF and AVIF
	// brands by their RFCs).
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

// claimHeader carries the token that a report shows for its photo. The uploader chose it and stored
// it with the photo, as the user metadata "claim".
const claimHeader = "Photo-Claim"

// photoRef names a stored photo: the name that its uploader gave it, and the uploader's token, ""
// without one.
type photoRef struct{ name, claim string }

// hash returns the SHA-256 of the token, as private.waiting_photos has it, or "".
func (p photoRef) hash() string {
	if p.claim == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p.claim))
	return hex.EncodeToString(sum[:])
}

// unreadable reports whether the gateway refused a photo because it is no image that can be read.
func unreadable(err error) bool {
	e, ok := edge.AsError(err)
	return ok && e.Status == http.StatusUnsupportedMediaType
}

// postedPhotosPerHour limits the photos that one client may post with forms, most of which come
// without a report.
const postedPhotosPerHour = 120

// upload stores a photo under the current time. If the name is taken, it tries the next
// milliseconds. Row level security does not apply to the service role, so upload calls the policy's
// function itself. The storage service refuses the photo when too many wait for their report.
func upload(ctx context.Context, env *edge.Env, content []byte) (photoRef, error) {
	mime, extension, _ := imageType(content)
	now := env.Now().UnixMilli()
	named := func(at int64) string { return strconv.FormatInt(at, 10) + extension }
	asking := env.Batch(edge.Service)
	asking.Limit(ctx, "posted photos", postedPhotosPerHour, time.Hour)
	asking.Queue(`select private.may_upload_report_photo($1)`, named(now))
	if err := asking.Send(ctx); err != nil {
		return photoRef{}, err
	}
	claim := rand.Text()
	for at, attempt := now, 1; ; at, attempt = at+1, attempt+1 {
		o := edge.NewObject{Bucket: photoBucket, Name: named(at), ContentType: mime,
			Metadata: map[string]string{"claim": claim}, Content: content}
		err := env.Store(ctx, o)
		if e, ok := edge.AsError(err); ok && e.Status == http.StatusConflict && attempt < 10 {
			continue
		}
		return photoRef{o.Name, claim}, err
	}
}
