package credential

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
)

// Online asks a service in the form of Have I Been Pwned for leaked passwords. The service gets the
// first five of the 40 digits of the SHA-1 and replies with the rest of all hashes that begin so.
type Online struct {
	Enabled    bool
	FailClosed bool   // passwords are refused while the service does not reply
	UserAgent  string // the service asks for one; "daawo" when empty
	URL        string // followed by the digits; the usual one when empty
}

const (
	usualLeakService = "https://api.pwnedpasswords.com/range/"

	leakTimeout   = 3 * time.Second
	leakReplySize = 1 << 20 // a usual reply has 40 KB
)

// service is an Online with its client.
type service struct {
	Online
	client *http.Client
	log    *slog.Logger
}

// leaked reports whether the service knows a password. If the service does not reply, the password
// counts as unknown unless FailClosed is set.
func (s service) leaked(ctx context.Context, text string) (bool, error) {
	known, err := s.ask(ctx, fmt.Sprintf("%X", sha1.Sum([]byte(text))))
	switch {
	case err == nil:
		return known, nil
	case s.FailClosed:
		return false, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
			"Unable to perform password strength check with HaveIBeenPwned.org.").WithCause(err)
	}
	s.log.WarnContext(ctx, "leaked passwords are not checked", "error", err)
	return false, nil
}

// prefixLength is how many digits of a hash the service gets.
const prefixLength = 5

func (s service) ask(ctx context.Context, hash string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, leakTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cmp.Or(s.URL, usualLeakService)+hash[:prefixLength],
		nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("User-Agent", cmp.Or(s.UserAgent, "daawo"))
	request.Header.Set("Add-Padding", "true") // the size of the reply does not tell the digits
	response, err := s.client.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the service answered %d", response.StatusCode)
	}
	lines := bufio.NewScanner(io.LimitReader(response.Body, leakReplySize))
	for lines.Scan() {
		rest, count, _ := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		if strings.EqualFold(rest, hash[prefixLength:]) && count != "0" { // padding has no count
			return true, nil
		}
	}
	return false, lines.Err()
}
