package auth

import (
	"time"

	"daawo/supabase/internal/auth/store"
)

// expired says why the session may not be refreshed any more; "" when it may.
func (e *Engine) expired(s *store.Session, u *store.User, tokenTime time.Time) string {
	c, now := e.config, e.now()
	switch {
	case s.NotAfter != nil && now.After(*s.NotAfter), c.Timebox > 0 && now.After(s.CreatedAt.Add(c.Timebox)):
		return "Invalid Refresh Token: Session Expired"
	case c.Inactivity > 0 && now.After(s.LastUsed(tokenTime).Add(c.Inactivity)):
		return "Invalid Refresh Token: Session Expired (Inactivity)"
	case c.AllowLowAAL > 0 && s.AAL == "aal1" && u.HasVerifiedFactor() && now.After(s.CreatedAt.Add(c.AllowLowAAL)):
		return "Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)"
	}
	return ""
}
