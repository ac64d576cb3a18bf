package auth

import (
	"net/http"
	"time"

	"daawo/supabase/internal/wire"
)

// tooSoon refuses a message that follows another one too closely. One that was sent in the future was sent by a clock that
// has been wrong, and does not count.
func (e *Engine) tooSoon(sentAt *time.Time, gap time.Duration, code string) error {
	if sentAt == nil || gap <= 0 || !sentAt.Add(gap).After(e.now()) || sentAt.After(e.now().Add(gap)) {
		return nil
	}
	left := int(sentAt.Add(gap).Sub(e.now()) / time.Second)
	return wire.Errorf(http.StatusTooManyRequests, code, "For security purposes, you can only request this after %d seconds.", left)
}
