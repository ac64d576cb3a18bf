package submitreport

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"daawo/supabase/edge"
)

// posted is a posted form: the values by field, and the photo.
type posted struct {
	*edge.Form
	text *texts
}

// handleForm handles a post of the HTML form. It replies with a redirect to the thank-you page, or
// with the form, the typed values and error messages.
func handleForm(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	ctx := r.Context()
	if fromOtherSite(r, env) { // its page posts in the name of its visitors
		p := unread(r)
		return p.show(w, http.StatusForbidden, p.text.failedTitle, p.text.failed, nil)
	}
	form, err := edge.ReadForm(r,
		edge.FormLimits{Fields: 30, FieldBytes: 20000, Files: 1, FileBytes: limits().PhotoBytes})
	p := unread(r)
	if form != nil {
		p.Form = form
		p.text = textIn(languageOf(r, cmp.Or(form.Values.Get("language"), r.URL.Query().Get("language"))))
	}
	if err != nil {
		return p.showUnreadable(w, err)
	}
	report, wrong := p.fields().check(p.text, true)
	photo, hasPhoto := p.photo(wrong)
	if len(wrong) == 0 && p.doubtsPhone() {
		wrong["phone"] = p.text.phoneDoubt
	}
	if len(wrong) > 0 || p.looksAutomatic() {
		if p.keepPhoto(r, env, photo) {
			wrong["photo"] = p.text.notAnImage
		}
		if len(wrong) > 0 {
			return p.show(w, http.StatusUnprocessableEntity, p.text.invalidTitle, p.text.problem(wrong), wrong)
		}
		return p.show(w, http.StatusUnprocessableEntity, p.text.title, p.text.pressAgain, nil)
	}
	// Count complete forms only: thousands of people may share an address, and incomplete posts
	// must not silence them. Count before the photo is stored.
	counting := env.Batch(edge.Service)
	limit(ctx, env, counting)
	if err := counting.Send(ctx); err != nil {
		if e, ok := edge.AsError(err); ok && e.Status == http.StatusTooManyRequests {
			return p.thankAgain(w, r, env, report, photo, err)
		}
		return p.showFailure(w, env, err)
	}
	key, err := keyOf(ctx, env, "", report, p.photoSum(photo))
	if err != nil {
		return p.showFailure(w, env, err)
	}
	photoLost := false
	if hasPhoto {
		if p.keepPhoto(r, env, photo) {
			wrong := map[string]string{"photo": p.text.notAnImage}
			return p.show(w, http.StatusUnprocessableEntity, p.text.invalidTitle, p.text.problem(wrong), wrong)
		}
		report.photoURL = p.Values.Get("photo_url")
		photoLost = report.photoURL == "" // the report is stored without its photo (spec §8)
	}
	report.photoClaim = p.Values.Get("photo_claim")
	receipt, err := save(ctx, env, report, key, false)
	if err != nil {
		return p.showFailure(w, env, err)
	}
	thank(w, r, p.text, receipt, photoLost || receipt.PhotoAttached != nil)
	return nil
}

// fromOtherSite reports whether a page of another origin sent a form. Older browsers send Origin
// but not Sec-Fetch-Site (Fetch Metadata); a request without both is from a program or a very old
// browser. A page on a neighbouring host name ("same-site") must have an Origin of ours.
func fromOtherSite(r *http.Request, env *edge.Env) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case site == "cross-site":
		return true
	case site == "same-origin", site == "none", site == "" && origin == "":
		return false
	}
	from, err := url.Parse(origin)
	if err != nil || from.Host == "" { // such as null
		return true
	}
	own, err := url.Parse(env.Get("SITE_URL"))
	return from.Host != r.Host && (err != nil || from.Host != own.Host)
}

// thankAgain handles a post over the limit: if its report is stored already, it replies with the
// receipt, otherwise with the refusal.
func (p posted) thankAgain(w http.ResponseWriter, r *http.Request, env *edge.Env, report report, photo []byte,
	refusal error) error {
	key, err := keyOf(r.Context(), env, "", report, p.photoSum(photo))
	if err != nil {
		return p.showFailure(w, env, err)
	}
	saved, found, err := recall(r.Context(), env, &key)
	switch {
	case err != nil:
		return p.showFailure(w, env, err)
	case !found:
		return p.showFailure(w, env, refusal)
	}
	thank(w, r, p.text, saved, saved.PhotoAttached != nil)
	return nil
}

// unread returns an empty form in the language of the page.
func unread(r *http.Request) posted {
	return posted{&edge.Form{Values: url.Values{}}, textIn(languageOf(r, r.URL.Query().Get("language")))}
}

// showUnreadable shows the form again with the fields that were read before the body exceeded its
// limit or ended unexpectedly.
func (p posted) showUnreadable(w http.ResponseWriter, err error) error {
	e, ok := edge.AsError(err)
	if !ok {
		return err
	}
	if e.Code == "body_too_large" { // only a photo can be this large
		return p.show(w, e.Status, p.text.invalidTitle, p.text.photoTooLarge,
			map[string]string{"photo": p.text.photoTooLarge})
	}
	return p.show(w, e.Status, p.text.failedTitle, p.text.badRequest, nil)
}

// fields returns the nine fields. The phone number includes the calling code of the chosen country.
func (p posted) fields() Fields {
	value := func(name string) *string {
		return new(p.Values.Get(name))
	}
	f := Fields{
		Name: value("name"), Phone: value("phone"), ProductName: value("product_name"),
		BatchNumber: value("batch_number"), ExpiryDate: value("expiry_date"), WhereBought: value("where_bought"),
		IssueDescription: value("issue_description"), Location: value("location"), PhotoURL: value("photo_url"),
	}
	*f.Phone = phoneNumber(p.Values.Get("country"), *f.Phone)
	return f
}

// phoneNumber puts a number behind its country's calling code, unless the number begins with a
// calling code itself (+ or 00). The site's script does the same (phoneNumber in
// web/src/screens/report/report.ts).
func phoneNumber(country, typed string) string {
	country = strings.TrimPrefix(latinDigits(cleanLine(&country)), "+")
	number := latinDigits(cleanLine(&typed))
	if country == "" || number == "" || strings.HasPrefix(number, "+") || strings.HasPrefix(number, "00") {
		return number
	}
	return "+" + country + " " + number
}

// doubtsPhone reports whether the typed number has fewer digits than usual and the reader has not
// been asked about it. The site's script asks the same (isDoubtfulPhone in
// web/src/screens/report/report.ts).
func (p posted) doubtsPhone() bool {
	typed := p.Values.Get("phone")
	return isDoubtfulPhone(typed) && p.Values.Get("phone_asked") != typed
}

func isDoubtfulPhone(typed string) bool {
	digits := 0
	for _, c := range latinDigits(typed) {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits < limits().UsualPhoneDigits
}

// photo returns the chosen photo, or adds a message to wrong when it is not an image or too large
// (spec §5).
func (p posted) photo(wrong map[string]string) ([]byte, bool) {
	file, ok := p.Files["photo"]
	if !ok {
		return nil, false
	}
	if file.TooLarge {
		wrong["photo"] = p.text.photoTooLarge
		return nil, false
	}
	if _, _, ok := imageType(file.Content); !ok {
		wrong["photo"] = p.text.notAnImage
		return nil, false
	}
	return file.Content, true
}

// keepPhoto stores a photo and writes its name, its token and its SHA-256 into the form's values,
// because a browser does not refill a file field. Like a photo that the site's script has uploaded,
// it waits for its report. It returns true for a file that is no readable image.
func (p posted) keepPhoto(r *http.Request, env *edge.Env, photo []byte) (notAnImage bool) {
	if photo == nil {
		return false
	}
	sum := p.photoSum(photo)
	p.Values.Del("photo_url")
	stored, err := upload(r.Context(), env, photo)
	if unreadable(err) {
		return true
	}
	if err != nil {
		env.Log.WarnContext(r.Context(), "storing a posted photo failed", "error", err)
		return false
	}
	p.Values.Set("photo_url", stored.name)
	p.Values.Set("photo_claim", stored.claim)
	p.Values.Set("photo_sum", sum)
	return false
}

// photoSum returns the SHA-256 of the chosen photo, or of the photo that an earlier post has
// stored; "" without a photo. It identifies a second post of a form whose first post contained the
// photo itself: the first post may have been stored although the reply reported a failure.
func (p posted) photoSum(chosen []byte) string {
	if chosen != nil {
		sum := sha256.Sum256(chosen)
		return hex.EncodeToString(sum[:])
	}
	sum := p.Values.Get("photo_sum")
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || p.Values.Get("photo_url") == "" {
		return ""
	}
	return sum
}

// looksAutomatic reports whether the hidden field is filled. The page that is shown next leaves it
// empty, so a second press succeeds. The time taken to fill the form is unknown: the page is
// prerendered and the browser has no script.
func (p posted) looksAutomatic() bool { return p.Values.Get("website") != "" }

// showFailure shows the form again when the report could not be stored and its fields are not the
// reason.
func (p posted) showFailure(w http.ResponseWriter, env *edge.Env, err error) error {
	failure := p.text.translate(err)
	if _, known := edge.AsError(err); !known {
		env.Log.Error("storing a posted report failed", "error", err)
	}
	maps.Copy(w.Header(), failure.Header)
	return p.show(w, failure.Status, p.text.failedTitle, failure.Message, nil)
}
