// Package compare sends the same requests to two servers and lists how their replies differ. Ids,
// tokens and times differ on purpose, so it compares the replies with a name in the place of each.
// It is for tests: of an engine and the upstream server whose API it serves.
package compare

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is one request of a sequence. ${name} in it stands for a value of an earlier reply.
type Request struct {
	Method, Path string
	Header       map[string]string
	Body         string
	// Keep stores values of the reply: the name → the path of a member, such as user.id, or
	// "header NAME".
	Keep map[string]string
}

// Reply is a reply with names in the place of values that differ between servers.
type Reply struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   any               `json:"body,omitempty"`
}

// Server is one of the servers, with the values of its replies. A Server is for one sequence.
type Server struct {
	Address string
	Headers []string // compared headers of replies
	Client  *http.Client
	// Value returns the value of a name that no reply holds, such as a code made of a secret.
	Value func(kept map[string]string, name string) (string, bool)

	kept  map[string]string
	names map[string]string // value → its name in the compared replies
}

// Kept returns a value of an earlier reply.
func (s *Server) Kept(name string) string { return s.kept[name] }

// Rename gives the ids of the next replies new names, because the names of the servers may have
// come apart.
func (s *Server) Rename() { s.names = map[string]string{} }

// Forget drops the values of earlier replies.
func (s *Server) Forget() { s.kept, s.names = nil, nil }

var placeholder = regexp.MustCompile(`\$\{[^}]+\}`)

// fill puts the kept values in their places.
func (s *Server) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		if value, ok := s.kept[name]; ok {
			return value
		}
		if s.Value != nil {
			if value, ok := s.Value(s.kept, name); ok {
				return value
			}
		}
		return "none"
	})
}

// Send sends a request and returns the reply in its comparable form.
func (s *Server) Send(q Request) (Reply, error) {
	if s.kept == nil {
		s.kept, s.names = map[string]string{}, map[string]string{}
	}
	r, err := http.NewRequest(q.Method, s.Address+s.fill(q.Path), strings.NewReader(s.fill(q.Body)))
	if err != nil {
		return Reply{}, err
	}
	for name, value := range q.Header {
		r.Header.Set(name, s.fill(value))
	}
	res, err := s.Client.Do(r)
	if err != nil {
		return Reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return Reply{}, err
	}
	var body any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&body) != nil {
		body = string(text)
	}
	for name, place := range q.Keep {
		if value, ok := read(res, body, place); ok {
			s.kept[name] = value
		}
	}
	out := Reply{Status: res.StatusCode, Header: map[string]string{}}
	for _, name := range s.Headers {
		if values := res.Header.Values(name); len(values) > 0 {
			slices.Sort(values) // of Allow, whose order means nothing
			out.Header[name] = s.named(strings.Join(values, ", "))
		}
	}
	out.Body = s.comparable("", body)
	return out, nil
}

// read returns the value at a path of a reply.
func read(res *http.Response, body any, place string) (string, bool) {
	if name, ok := strings.CutPrefix(place, "header "); ok {
		return res.Header.Get(name), res.Header.Get(name) != ""
	}
	for member := range strings.SplitSeq(place, ".") {
		switch v := body.(type) {
		case map[string]any:
			body = v[member]
		case []any:
			var at int
			if _, err := fmt.Sscan(member, &at); err != nil || at >= len(v) {
				return "", false
			}
			body = v[at]
		default:
			return "", false
		}
	}
	if body == nil {
		return "", false
	}
	return fmt.Sprint(body), true
}

// comparable returns a JSON value with names for what differs between servers. member is its name.
func (s *Server) comparable(member string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = s.comparable(name, v[name])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.comparable(member, v[i])
		}
		return out
	case json.Number:
		if slices.Contains(moments, member) {
			return "<time>"
		}
		return v.String()
	case string:
		if v != "" && slices.Contains(secrets, member) {
			return "<secret>"
		}
		if digest.MatchString(v) || strings.HasSuffix(member, "phone") && len(v) == 15 {
			return "<hash>"
		}
		return s.named(v)
	}
	return v
}

// moments are members with a time as a number; secrets have random texts.
var (
	moments = []string{"expires_at", "iat", "exp", "timestamp", "auth_time", "nbf"}
	secrets = []string{"refresh_token", "secret", "uri", "qr_code", "email_otp", "client_secret", "challenge",
		"error_id", "message_id", "hashed_token", "provider_token"}
)

var (
	jwtForm   = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`)
	uuidForm  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeForm  = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`)
	dateForm  = regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT`)
	hashForm  = regexp.MustCompile(`(pkce_)?[0-9a-f]{56}`)
	digest    = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	hostForm  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	tusForm   = regexp.MustCompile(`(/upload/resumable/)[A-Za-z0-9_-]+`)
	waitForm  = regexp.MustCompile(`after \d+ seconds`)
	tokenForm = regexp.MustCompile(`(refresh_token=)[^&#]+`)
	samlForm  = regexp.MustCompile(`((SAMLRequest|SigAlg|Signature)=)[^&#]+`)
	atForm    = regexp.MustCompile(`(expires_at=)\d+`)
)

// named returns a text with names for ids, tokens and times. The same id has the same name in a
// sequence.
func (s *Server) named(text string) string {
	text = jwtForm.ReplaceAllStringFunc(text, s.namedJWT)
	text = uuidForm.ReplaceAllStringFunc(text, func(id string) string {
		if strings.Trim(id, "0-") == "" {
			return id
		}
		if s.names[id] == "" {
			s.names[id] = fmt.Sprintf("<id %d>", len(s.names)+1)
		}
		return s.names[id]
	})
	text = timeForm.ReplaceAllString(text, "<time>")
	text = dateForm.ReplaceAllString(text, "<time>")
	text = hashForm.ReplaceAllString(text, "$1<hash>")
	text = hostForm.ReplaceAllString(text, "<host>")
	text = tusForm.ReplaceAllString(text, "$1<id>")
	text = waitForm.ReplaceAllString(text, "after N seconds")
	text = tokenForm.ReplaceAllString(text, "$1<secret>")
	text = samlForm.ReplaceAllString(text, "$1<saml>")
	return atForm.ReplaceAllString(text, "$1<time>")
}

// namedJWT returns the header and the claims of a token.
func (s *Server) namedJWT(token string) string {
	parts := strings.Split(token, ".")
	var shown []string
	for _, part := range parts[:2] {
		text, err := base64.RawURLEncoding.DecodeString(part)
		var v any
		if err != nil || json.Unmarshal(text, &v) != nil {
			return "<token>"
		}
		encoded, err := json.Marshal(s.comparableClaims(v))
		if err != nil {
			return "<token>"
		}
		shown = append(shown, string(encoded))
	}
	return "<token " + strings.Join(shown, " ") + ">"
}

func (s *Server) comparableClaims(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var out any
	if decoder.Decode(&out) != nil {
		return v
	}
	return s.comparable("", out)
}

// Difference is one difference of two replies.
type Difference struct {
	Place        string // status, header NAME, or body with the path of a member
	Ours, Theirs any
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s, theirs %s", d.Place, show(d.Ours), show(d.Theirs))
}

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// Replies returns the differences of two replies.
func Replies(ours, theirs Reply) (out []Difference) {
	if ours.Status != theirs.Status {
		out = append(out, Difference{"status", statusOf(ours), statusOf(theirs)})
	}
	names := maps.Clone(ours.Header)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, theirs.Header)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if ours.Header[name] != theirs.Header[name] {
			out = append(out, Difference{"header " + name, ours.Header[name], theirs.Header[name]})
		}
	}
	return append(out, values("body", ours.Body, theirs.Body)...)
}

// statusOf returns the status with the code of the error.
func statusOf(r Reply) string {
	body, _ := r.Body.(map[string]any)
	code := body["error_code"]
	if code == nil {
		code = body["code"]
	}
	if code == nil {
		return fmt.Sprint(r.Status)
	}
	return fmt.Sprint(r.Status, " ", code)
}

// values returns the differences of two JSON values.
func values(place string, ours, theirs any) (out []Difference) {
	a, aIsObject := ours.(map[string]any)
	b, bIsObject := theirs.(map[string]any)
	if aIsObject && bIsObject {
		members := maps.Clone(a)
		maps.Copy(members, b)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			va, inA := a[name]
			vb, inB := b[name]
			if inA != inB {
				out = append(out, Difference{place + "." + name, va, vb})
				continue
			}
			out = append(out, values(place+"."+name, va, vb)...)
		}
		return out
	}
	c, aIsList := ours.([]any)
	d, bIsList := theirs.([]any)
	if aIsList && bIsList && len(c) == len(d) {
		for i := range c {
			out = append(out, values(place+".*", c[i], d[i])...)
		}
		return out
	}
	if show(ours) != show(theirs) {
		out = append(out, Difference{place, ours, theirs})
	}
	return out
}

// Known is a difference that stays, with its reason.
type Known struct {
	Request string // "METHOD path", a pattern that matches its beginning
	Place   string // a pattern that matches the whole place
	Text    string // a pattern in their value; "" for any
	Ours    string // a pattern in our value; "" for any
	Reason  string
	Whole   bool // explains the other differences of the same reply, too, as one of the status does
	Ends    bool // the servers' data differ from then on

	mu   sync.Mutex
	seen map[string]int // the pairs of values → how often
}

// List is a checked list of known differences.
type List []*Known

// Unknown returns the differences that the list does not have. A difference of the status explains
// the others of the same reply. ends: the servers' data differ from now on.
func (l List) Unknown(q Request, found []Difference) (out []Difference, ends bool) {
	whole := false
	for _, d := range found {
		at := slices.IndexFunc(l, func(k *Known) bool { return k.matches(q, d) })
		if at < 0 {
			out = append(out, d)
			continue
		}
		l[at].add(q, d)
		ends = ends || l[at].Ends
		if d.Place == "status" || l[at].Whole {
			whole = true
		}
	}
	if whole {
		return nil, true
	}
	return out, ends || len(out) > 0
}

func (k *Known) matches(q Request, d Difference) bool {
	return regexp.MustCompile(`^(?:`+k.Request+`)`).MatchString(q.Method+" "+q.Path) &&
		regexp.MustCompile(`^(?:`+k.Place+`)$`).MatchString(d.Place) &&
		regexp.MustCompile(k.Text).MatchString(fmt.Sprint(d.Theirs)) &&
		regexp.MustCompile(k.Ours).MatchString(fmt.Sprint(d.Ours))
}

// Unseen returns the reasons of the entries that no difference has matched.
func (l List) Unseen() (out []string) {
	for _, k := range l {
		if len(k.seen) == 0 {
			out = append(out, k.Request+" "+k.Place+": "+k.Reason)
		}
	}
	return out
}

// add counts a pair of values, cut to what tells the kind, with the path without its last part.
func (k *Known) add(q Request, d Difference) {
	k.mu.Lock()
	defer k.mu.Unlock()
	short := func(v any) string {
		text := fmt.Sprint(v)
		return text[:min(len(text), 60)]
	}
	if k.seen == nil {
		k.seen = map[string]int{}
	}
	at := q.Method + " " + path.Dir(q.Path+"x")
	k.seen[at+" "+d.Place+": "+short(d.Ours)+" | "+short(d.Theirs)]++
}

// Seen returns a line for each pair of values that an entry explained, with its count.
func (l List) Seen() (out []string) {
	for _, k := range l {
		out = append(out, k.Request+" "+k.Place+": "+k.Reason)
		for _, pair := range slices.Sorted(maps.Keys(k.seen)) {
			out = append(out, fmt.Sprintf("    %d × %s", k.seen[pair], pair))
		}
	}
	return out
}

// Timeout bounds a request of a comparison.
const Timeout = time.Minute

// NewClient returns a client that follows no redirects.
func NewClient() *http.Client {
	return &http.Client{Timeout: Timeout, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
