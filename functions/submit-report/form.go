package submitreport

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"daawo/functions/edge"
)

// posted is a form as it came: the values by field, and the photo.
type posted struct {
	*edge.Form
	text *texts
}

// handleForm takes the plain post of the HTML form and answers with pages: a redirect to the thank-you page, or the form
// with messages and everything that was typed.
func handleForm(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	ctx := r.Context()
	form, err := edge.ReadForm(r, edge.FormLimits{Fields: 30, FieldBytes: 20000, Files: 1, FileBytes: maxPhoto})
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
	// Counted at once, because a post stores its photo before the report.
	counting := env.Batch(edge.Service)
	limit(ctx, env, counting)
	if err := counting.Send(ctx); err != nil {
		if e, ok := edge.AsError(err); ok && e.Status == http.StatusTooManyRequests && len(wrong) == 0 {
			return p.thankAgain(w, r, env, report, photo, err)
		}
		return p.showFailure(w, env, err)
	}
	if len(wrong) > 0 {
		p.keepPhoto(r, env, photo)
		return p.show(w, http.StatusUnprocessableEntity, p.text.invalidTitle, p.text.problem(wrong), wrong)
	}
	if p.looksAutomatic() {
		p.keepPhoto(r, env, photo)
		return p.show(w, http.StatusUnprocessableEntity, p.text.title, p.text.pressAgain, nil)
	}
	key, err := keyOf(ctx, env, "", report, p.photoSum(photo))
	if err != nil {
		return p.showFailure(w, env, err)
	}
	photoLost := false
	if hasPhoto {
		p.keepPhoto(r, env, photo)
		report.photoURL = p.Values.Get("photo_url")
		photoLost = report.photoURL == "" // the report goes on without its photo (spec §8)
	}
	receipt, err := save(ctx, env, report, key, false)
	if err != nil {
		return p.showFailure(w, env, err)
	}
	thank(w, r, p.text, receipt, photoLost || receipt.PhotoAttached != nil)
	return nil
}

// thankAgain answers a post beyond the limit: a report that is stored already gets its receipt, any other the refusal.
func (p posted) thankAgain(w http.ResponseWriter, r *http.Request, env *edge.Env, report report, photo []byte, refusal error) error {
	key, err := keyOf(r.Context(), env, "", report, p.photoSum(photo))
	if err != nil {
		return p.showFailure(w, env, err)
	}
	saved, found, err := replay(r.Context(), env, key)
	switch {
	case err != nil:
		return p.showFailure(w, env, err)
	case !found:
		return p.showFailure(w, env, refusal)
	}
	thank(w, r, p.text, saved, saved.PhotoAttached != nil)
	return nil
}

// unread is a form of which nothing is known yet but the language of the page.
func unread(r *http.Request) posted {
	return posted{&edge.Form{Values: url.Values{}}, textIn(languageOf(r, r.URL.Query().Get("language")))}
}

// showUnreadable shows the form again, with the fields that were read before its body turned out to be too long or broken.
func (p posted) showUnreadable(w http.ResponseWriter, err error) error {
	e, ok := edge.AsError(err)
	if !ok {
		return err
	}
	if e.Code == "body_too_large" { // only a photo makes it so
		return p.show(w, e.Status, p.text.invalidTitle, p.text.photoTooLarge, map[string]string{"photo": p.text.photoTooLarge})
	}
	return p.show(w, e.Status, p.text.failedTitle, p.text.badRequest, nil)
}

// fields reads the nine fields. A phone number without a calling code is put behind that of its
// country, as the page's script does.
func (p posted) fields() Fields {
	value := func(name string) *string {
		v := p.Values.Get(name)
		return &v
	}
	f := Fields{
		Name: value("name"), Phone: value("phone"), ProductName: value("product_name"), BatchNumber: value("batch_number"),
		ExpiryDate: value("expiry_date"), WhereBought: value("where_bought"), IssueDescription: value("issue_description"),
		Location: value("location"), PhotoURL: value("photo_url"),
	}
	country := strings.TrimPrefix(strings.TrimSpace(p.Values.Get("country")), "+")
	number := strings.TrimSpace(*f.Phone)
	international := strings.HasPrefix(number, "+") || strings.HasPrefix(number, "00")
	if country != "" && number != "" && !international {
		*f.Phone = "+" + country + " " + number
	}
	return f
}

// photo takes the chosen photo and adds a message when it is none that can be sent (spec §5).
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

// keepPhoto stores a good photo and puts its name and its sum where the page has them from when the form comes back,
// because a browser never fills a file field again. It waits for its report like a photo that the page's script sent first.
func (p posted) keepPhoto(r *http.Request, env *edge.Env, photo []byte) {
	if photo == nil {
		return
	}
	sum := p.photoSum(photo)
	p.Values.Del("photo_url")
	name, err := upload(r.Context(), env, photo)
	if err != nil {
		env.Log.WarnContext(r.Context(), "photo of a posted form was not stored", "error", err)
		return
	}
	p.Values.Set("photo_url", name)
	p.Values.Set("photo_sum", sum)
}

// photoSum is the SHA-256 of the chosen photo, or of the one that an earlier post has stored, as its page says; "" without
// either. By it a form that came back is recognised as the one that was posted with the photo itself: the first post may
// have been stored although its visitor was told otherwise.
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

// looksAutomatic says whether a field that no person sees is filled. The page that is shown then leaves it empty, so that a
// second press gets through. The time that filling the form took is not known: the page is the same for everybody, made
// before anybody asks for it, and who comes without script cannot tell.
func (p posted) looksAutomatic() bool { return p.Values.Get("website") != "" }

// showFailure shows the form again when the report could not be stored for a reason that is not the visitor's.
func (p posted) showFailure(w http.ResponseWriter, env *edge.Env, err error) error {
	failure := p.text.translate(err)
	if _, known := edge.AsError(err); !known {
		env.Log.Error("a posted report was not stored", "error", err)
	}
	for name, values := range failure.Header {
		w.Header()[name] = values
	}
	return p.show(w, failure.Status, p.text.failedTitle, failure.Message, nil)
}
