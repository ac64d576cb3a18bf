package storage

import (
	"strings"
	"time"

	"daawo/supabase/internal/engine/storage/objects"
)

// maxSeconds is the latest expiry of a token, in seconds since 1970: JavaScript's largest safe
// integer of milliseconds.
const maxSeconds = (1<<53 - 1) / 1000

// expiresIn reads the member expiresIn, in seconds.
func expiresIn(f *fields) int64 {
	n := f.integer("expiresIn", 1, 1<<53)
	if n == nil {
		return 0
	}
	if *n > maxSeconds-time.Now().Unix() && f.err == nil {
		f.err = objects.ErrInvalidParameter("expiresIn")
	}
	return *n
}

// signHandler makes signed URLs.
type signHandler struct {
	store     *objects.Store
	uploadTTL time.Duration // lifetime of a signed upload URL
	render    bool          // image transformation is enabled
}

func (h signHandler) one(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("expiresIn")
	seconds := expiresIn(f)
	nested := f.object("transform")
	var transform transformation
	if nested != nil {
		transform = readTransformation(nested)
		f.adoptError(nested)
	}
	if f.err != nil {
		return f.err
	}
	if err := objects.CheckName(c.name); err != nil {
		return err
	}
	if _, err := h.store.Object(c.r.Context(), c.caller, c.bucket, c.name); err != nil {
		return err
	}
	u := objects.SignedURL{URL: c.bucket + "/" + c.name, Scope: objects.ScopeDownload}
	path := "/object/sign/"
	if h.render && nested != nil {
		segments, err := transform.Segments(true)
		if err != nil {
			return err
		}
		u.Transformations, u.Format = strings.Join(segments, ","), transform.Format
		if u.Transformations != "" {
			path = "/render/image/sign/"
		}
	}
	token, err := h.store.Signer.Sign(u, seconds)
	if err != nil {
		return err
	}
	return c.send(struct {
		URL string `json:"signedURL"`
	}{path + escapeQuestionMark(u.URL) + "?token=" + token})
}

// escapeQuestionMark escapes the character that would end the path of a URL. Clients expect the
// rest unescaped.
func escapeQuestionMark(s string) string { return strings.ReplaceAll(s, "?", "%3F") }

func (h signHandler) many(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("expiresIn", "paths")
	seconds := expiresIn(f)
	paths, _ := f.texts("paths", false, 1, 1000)
	if f.err != nil {
		return f.err
	}
	visible, err := h.store.Visible(c.r.Context(), c.caller, c.bucket, paths)
	if err != nil {
		return err
	}
	type signed struct {
		Error *string `json:"error"`
		Path  string  `json:"path"`
		URL   *string `json:"signedURL"`
	}
	out := make([]signed, len(paths))
	for i, path := range paths {
		out[i].Path = path
		if !visible[path] {
			missing := "Either the object does not exist or you do not have access to it"
			out[i].Error = &missing
			continue
		}
		u := objects.SignedURL{URL: c.bucket + "/" + path, Scope: objects.ScopeDownload}
		token, err := h.store.Signer.Sign(u, seconds)
		if err != nil {
			return err
		}
		link := "/object/sign/" + escapeQuestionMark(u.URL) + "?token=" + token
		out[i].URL = &link
	}
	return c.send(out)
}

func (h signHandler) upload(c *call) error {
	user, err := userMetadata(c.r.Header.Get("X-Metadata"))
	if err != nil {
		return err
	}
	upsert := c.flag("X-Upsert")
	err = h.store.CanUpload(c.r.Context(), c.caller,
		objects.Upload{Bucket: c.bucket, Name: c.name, Owner: c.caller.Subject, Upsert: upsert,
			UserMetadata: user, Declared: declared(c.r, c.r.Header.Get("Content-Type"))})
	if err != nil {
		return err
	}
	u := objects.SignedURL{URL: c.bucket + "/" + c.name, Scope: objects.ScopeUpload, Owner: c.caller.Subject,
		Upsert: &upsert}
	token, err := h.store.Signer.Sign(u, int64(h.uploadTTL/time.Second))
	if err != nil {
		return err
	}
	return c.send(struct {
		URL   string `json:"url"`
		Token string `json:"token"`
	}{"/object/upload/sign/" + escapeQuestionMark(u.URL) + "?token=" + token, token})
}
