package mail

import (
	"bytes"
	"crypto/rand"
	"io"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // character sets other than UTF-8
	gmail "github.com/emersion/go-message/mail"
)

// address is an address in Mailpit's JSON.
type address struct {
	Name    string `json:"Name"`
	Address string `json:"Address"`
}

// attachment is a file in a mail.
type attachment struct {
	PartID      string `json:"PartID"`
	FileName    string `json:"FileName"`
	ContentType string `json:"ContentType"`
	Size        int    `json:"Size"`
	content     []byte
}

// stored is a mail in the inbox. The field names follow Mailpit's API (v1).
type stored struct {
	ID, MessageID string
	Read          bool
	From          address
	To, Cc, Bcc   []address
	ReplyTo       []address
	ReturnPath    string
	Subject       string
	Created       time.Time
	Date          time.Time
	Text, HTML    string
	Attachments   []attachment
	Size          int
	raw           []byte
	header        mail.Header
}

// parse parses a received mail. Of a malformed mail it keeps the readable parts.
func parse(raw []byte, from string, to []string, now time.Time) *stored {
	m := &stored{
		ID: rand.Text(), ReturnPath: from, From: address{Address: from}, Created: now, Date: now, Size: len(raw),
		raw: raw, To: []address{}, Cc: []address{}, Bcc: []address{}, ReplyTo: []address{}, Attachments: []attachment{},
		header: mail.Header{},
	}
	if plain, err := mail.ReadMessage(bytes.NewReader(raw)); err == nil {
		m.header = plain.Header
	}
	r, err := gmail.CreateReader(bytes.NewReader(raw))
	if err != nil && !message.IsUnknownCharset(err) || r == nil {
		m.Text = string(raw)
		return m
	}
	m.readHeader(r.Header, to)
	for n := 1; ; n++ {
		part, err := r.NextPart()
		if err != nil && !message.IsUnknownCharset(err) || part == nil {
			break
		}
		m.readPart(part, n)
	}
	return m
}

func (m *stored) readHeader(h gmail.Header, recipients []string) {
	m.Subject, _ = h.Subject()
	m.MessageID, _ = h.MessageID()
	if date, err := h.Date(); err == nil && !date.IsZero() {
		m.Date = date
	}
	people := func(field string) []address {
		list := []address{}
		found, _ := h.AddressList(field)
		for _, a := range found {
			list = append(list, address{a.Name, a.Address})
		}
		return list
	}
	if from := people("From"); len(from) > 0 {
		m.From = from[0]
	}
	m.To, m.Cc, m.ReplyTo = people("To"), people("Cc"), people("Reply-To")
	// A recipient that is not in the header got a blind copy.
	for _, r := range recipients {
		if !includes(m.To, r) && !includes(m.Cc, r) {
			m.Bcc = append(m.Bcc, address{Address: r})
		}
	}
}

func includes(people []address, a string) bool {
	for _, p := range people {
		if strings.EqualFold(p.Address, a) {
			return true
		}
	}
	return false
}

func (m *stored) readPart(part *gmail.Part, n int) {
	content, _ := io.ReadAll(part.Body) // show the readable start of a broken part
	switch h := part.Header.(type) {
	case *gmail.InlineHeader:
		kind, _, _ := h.ContentType()
		switch {
		case kind == "text/html":
			m.HTML += string(content)
		case strings.HasPrefix(kind, "text/") || kind == "":
			m.Text += string(content)
		default:
			m.attach(n, "", kind, content)
		}
	case *gmail.AttachmentHeader:
		name, _ := h.Filename()
		kind, _, _ := h.ContentType()
		m.attach(n, name, kind, content)
	}
}

func (m *stored) attach(n int, name, kind string, content []byte) {
	m.Attachments = append(m.Attachments, attachment{strconv.Itoa(n), name, kind, len(content), content})
}

var (
	htmlTag   = regexp.MustCompile(`(?s)<style.*?</style>|<[^>]*>`)
	blankness = regexp.MustCompile(`\s+`)
)

// snippet returns the beginning of the text, for lists.
func (m *stored) snippet() string {
	text := m.Text
	if text == "" {
		text = htmlTag.ReplaceAllString(m.HTML, " ")
	}
	text = strings.TrimSpace(blankness.ReplaceAllString(text, " "))
	if runes := []rune(text); len(runes) > 250 {
		return string(runes[:250]) + "…"
	}
	return text
}

// matches reports whether the mail matches a search in Mailpit's syntax: words, "phrases", and
// from:, to:, cc:, bcc:, subject:, message-id: and is:read / is:unread before them. A leading - or
// ! negates a term. All terms must match.
func (m *stored) matches(query string) bool {
	for _, term := range terms(query) {
		inverted := strings.HasPrefix(term, "-") || strings.HasPrefix(term, "!")
		if m.matchesTerm(strings.TrimLeft(term, "-!")) == inverted {
			return false
		}
	}
	return true
}

func (m *stored) matchesTerm(term string) bool {
	field, value, found := strings.Cut(term, ":")
	value = strings.ToLower(strings.Trim(value, `"`))
	anyOf := func(people ...address) bool {
		for _, p := range people {
			if strings.Contains(strings.ToLower(p.Name+" <"+p.Address+">"), value) {
				return true
			}
		}
		return false
	}
	if found {
		switch strings.ToLower(field) {
		case "from":
			return anyOf(m.From)
		case "to":
			return anyOf(m.To...)
		case "cc":
			return anyOf(m.Cc...)
		case "bcc":
			return anyOf(m.Bcc...)
		case "addressed":
			return anyOf(append(append(append([]address{m.From}, m.To...), m.Cc...), m.Bcc...)...)
		case "subject":
			return strings.Contains(strings.ToLower(m.Subject), value)
		case "message-id":
			return strings.Contains(strings.ToLower(m.MessageID), value)
		case "is":
			return value == "read" && m.Read || value == "unread" && !m.Read
		}
	}
	text := strings.ToLower(strings.Join([]string{m.Subject, m.Text, m.HTML, m.From.Address, m.From.Name}, "\n"))
	value = strings.ToLower(strings.Trim(term, `"`))
	return strings.Contains(text, value) || anyOf(m.To...)
}

// terms splits a search at spaces outside quotation marks.
func terms(query string) []string {
	quoted := false
	return strings.FieldsFunc(query, func(c rune) bool {
		if c == '"' {
			quoted = !quoted
		}
		return c == ' ' && !quoted
	})
}
