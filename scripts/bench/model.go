package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"daawo/scripts/server"
)

// kind is one action of visitors.
type kind struct {
	name  string
	share float64 // share of all arrivals in the mixture
	alone float64 // rate if measured alone, relative to -rate
	do    func(ctx context.Context) error
}

// namedStack is a stack of a comparison, with its name in the table.
type namedStack struct {
	name string
	*server.Stack
}

// model is one running stack and the requests of its visitors.
type model struct {
	st        *server.Stack
	stacks    []namedStack // of a comparison; the first is st
	client    *http.Client
	resources []string // ids
	files     []string // paths of PDFs
	email     string   // the user of the logins
	password  string
	photos    []byte // a photo as the page sends it
	serial    atomic.Int64
	received  atomic.Int64 // body bytes since the measurement began
}

// kinds returns the site's mixture: most visits read pages, some list resources, fewer download or
// report.
func (m *model) kinds() []kind {
	return []kind{
		{"page", 0.78, 8, m.page},
		{"list", 0.10, 4, m.list},
		{"download", 0.06, 4, m.download},
		{"report", 0.04, 1, m.report},
		{"photo", 0.015, 0.5, m.photo},
		{"login", 0.005, 0.1, m.login},
	}
}

func newModel(ctx context.Context, st *server.Stack) (*model, error) {
	m := &model{
		st:       st,
		client:   &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}},
		email:    fmt.Sprintf("load-%d@example.org", time.Now().UnixNano()), // a database of DATABASE_URL keeps it
		password: "a-password-for-the-load-1",
	}
	var err error
	if m.photos, err = picture(); err != nil {
		return nil, err
	}
	text, err := m.send(ctx, http.MethodGet, "/rest/v1/resources?select=id,file_url&is_active=eq.true", nil, m.anon())
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID      string `json:"id"`
		FileURL string `json:"file_url"`
	}
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("the stack has no resources: %s", text)
	}
	for _, r := range rows {
		m.resources = append(m.resources, r.ID)
		if r.FileURL != "#" {
			m.files = append(m.files, r.FileURL)
		}
	}
	account := map[string]any{"email": m.email, "password": m.password, "email_confirm": true}
	_, err = m.send(ctx, http.MethodPost, "/auth/v1/admin/users", account, map[string]string{
		"apikey": st.Get("SERVICE_ROLE_KEY"), "Authorization": "Bearer " + st.Get("SERVICE_ROLE_KEY"),
	})
	return m, err
}

func (m *model) anon() map[string]string {
	return map[string]string{"apikey": m.st.Get("ANON_KEY"), "Authorization": "Bearer " + m.st.Get("ANON_KEY")}
}

func (m *model) page(ctx context.Context) error {
	pages := []string{"/", "/so/", "/learn/", "/so/learn/antibiotics-guide/", "/women-health/", "/so/report/",
		"/about/"}
	_, err := m.send(ctx, http.MethodGet, pages[rand.IntN(len(pages))], nil, map[string]string{"Accept-Encoding": "br"})
	return err
}

func (m *model) list(ctx context.Context) error {
	_, err := m.send(ctx, http.MethodGet, "/rest/v1/resources?select=*&is_active=eq.true&order=created_at.desc", nil,
		m.anon())
	return err
}

func (m *model) download(ctx context.Context) error {
	id := m.resources[rand.IntN(len(m.resources))]
	if _, err := m.send(ctx, http.MethodPost, "/functions/v1/track-download", map[string]any{"resourceId": id},
		m.visitor()); err != nil {
		return err
	}
	_, err := m.send(ctx, http.MethodGet, m.files[rand.IntN(len(m.files))], nil, nil)
	return err
}

func (m *model) report(ctx context.Context) error {
	_, err := m.send(ctx, http.MethodPost, "/functions/v1/submit-report", m.fields(nil), m.visitor())
	return err
}

// picture returns a JPEG of about 200 kB and 1280 pixels width, the size that the page sends.
func picture() ([]byte, error) {
	frame := image.NewYCbCr(image.Rect(0, 0, 1280, 960), image.YCbCrSubsampleRatio420)
	random := rand.NewChaCha8([32]byte{})
	for i := range frame.Y { // gradients with noise, like a photo
		frame.Y[i] = byte(i%1280/8+i/1280/8)/2 + byte(random.Uint64()%12)
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, frame, &jpeg.Options{Quality: 80})
	return out.Bytes(), err
}

// photo uploads a photo and sends a report with it.
func (m *model) photo(ctx context.Context) error {
	name := fmt.Sprintf("%013d.jpg", time.Now().UnixMilli()*100%1e13+m.serial.Add(1)%100)
	headers := m.anon()
	headers["Content-Type"] = "image/jpeg"
	if _, err := m.send(ctx, http.MethodPost, "/storage/v1/object/report-photos/"+name, m.photos, headers); err != nil {
		return err
	}
	_, err := m.send(ctx, http.MethodPost, "/functions/v1/submit-report", m.fields(&name), m.visitor())
	return err
}

func (m *model) login(ctx context.Context) error {
	_, err := m.send(ctx, http.MethodPost, "/auth/v1/token?grant_type=password",
		map[string]any{"email": m.email, "password": m.password}, m.anon())
	return err
}

// visitor returns headers with a new client address and idempotency key.
func (m *model) visitor() map[string]string {
	n := m.serial.Add(1)
	headers := m.anon()
	headers["X-Forwarded-For"] = fmt.Sprintf("10.%d.%d.%d", byte(n>>16), byte(n>>8), byte(n))
	headers["Idempotency-Key"] = fmt.Sprintf("bench-%d-%d", m.st.PID(), n)
	return headers
}

func (m *model) fields(photo *string) map[string]any {
	return map[string]any{
		"name": nil, "phone": "+252 61 234 5678", "product_name": fmt.Sprintf("Cream %d", m.serial.Load()),
		"batch_number": nil, "expiry_date": "2027-01-31", "where_bought": "Bakaara",
		"issue_description": "Burning skin after two days", "location": "Banaadir, Hodan", "photo_url": photo,
	}
}

// send sends one request and returns the body. A status other than 2xx is an error.
func (m *model) send(ctx context.Context, method, path string, body any, headers map[string]string) ([]byte, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		reader = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, m.st.Get("API_URL")+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := m.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	m.received.Add(int64(len(text)))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	return text, err
}
