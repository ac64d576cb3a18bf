package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Texts returns the texts of some keys. A key without a text keeps its default.
type Texts func(ctx context.Context, keys []string) (map[string]string, error)

// textsAge is how old the shown texts may be, and how long a question for new ones takes at most;
// textsWait is how long one request waits for them.
const (
	textsAge  = 10 * time.Second
	textsWait = 500 * time.Millisecond
)

// textPlace is the place of a text in a built page: its key and its default, which is HTML.
var textPlace = regexp.MustCompile(`__TEXT:([^|]+)\|(.*?)__`)

// textsVersion is a placeholder that changes with any text, for workers that keep pages.
const textsVersion = "TEXTS_VERSION"

// liveFiles are the files with places of texts.
type liveFiles struct {
	names []string
	keys  []string
	files atomic.Pointer[map[string]*asset] // with the present texts; nil before the first change

	mu    sync.Mutex // held by the question for texts, of which there is one at a time
	asked time.Time
	shown map[string]string
}

// add notes the places of a file.
func (l *liveFiles) add(name string, built []byte) {
	places := textPlace.FindAllSubmatch(built, -1)
	if places == nil && !bytes.Contains(built, []byte("__"+textsVersion+"__")) {
		return
	}
	l.names = append(l.names, name)
	for _, place := range places {
		if key := string(place[1]); !slices.Contains(l.keys, key) {
			l.keys = append(l.keys, key)
		}
	}
}

// fillTexts fills the places of texts.
func fillTexts(page []byte, texts map[string]string) []byte {
	return textPlace.ReplaceAllFunc(page, func(place []byte) []byte {
		m := textPlace.FindSubmatch(place)
		if text := texts[string(m[1])]; text != "" {
			return []byte(html.EscapeString(text))
		}
		return m[2]
	})
}

// present returns a file with the present texts.
func (s *Site) present(ctx context.Context, name string, a *asset) *asset {
	if !slices.Contains(s.live.names, name) {
		return a
	}
	s.renew(ctx)
	if files := s.live.files.Load(); files != nil {
		return (*files)[name]
	}
	return a
}

// renew asks for the texts if the shown ones may be old, and waits a short time. Later texts are
// for later requests.
func (s *Site) renew(ctx context.Context) {
	l := &s.live
	if s.options.Texts == nil || !l.mu.TryLock() {
		return
	}
	if time.Since(l.asked) < textsAge {
		l.mu.Unlock()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer l.mu.Unlock()
		s.ask(context.WithoutCancel(ctx))
	}()
	select {
	case <-done:
	case <-time.After(textsWait):
	}
}

// ask asks for the texts and fills them in. After an error the shown ones stay.
func (s *Site) ask(ctx context.Context) {
	l := &s.live
	ctx, cancel := context.WithTimeout(ctx, textsAge)
	defer cancel()
	texts, err := s.options.Texts(ctx, l.keys)
	l.asked = time.Now()
	if err != nil || maps.Equal(texts, l.shown) {
		return
	}
	if files, err := s.withTexts(texts); err == nil {
		l.shown = texts
		l.files.Store(&files)
	}
}

// withTexts reads the live files again and fills in the texts.
func (s *Site) withTexts(texts map[string]string) (map[string]*asset, error) {
	o := s.options
	o.Values = maps.Clone(o.Values)
	o.Values[textsVersion] = versionOf(texts)
	more, err := readAdditions(o.Files)
	if err != nil {
		return nil, err
	}
	files := map[string]*asset{}
	for _, name := range s.live.names {
		built, err := fs.ReadFile(o.Files, name)
		if err != nil {
			return nil, err
		}
		files[name] = newAsset(name, built, o.Values, texts, more)
	}
	return files, nil
}

// versionOf returns "" for no texts, and otherwise a short hash of them.
func versionOf(texts map[string]string) string {
	if len(texts) == 0 {
		return ""
	}
	list, err := json.Marshal(texts) // in the order of the keys
	if err != nil {
		return "" // never: these are strings
	}
	sum := sha256.Sum256(list)
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}
