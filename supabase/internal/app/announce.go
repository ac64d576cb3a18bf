package app

import (
	"cmp"
	"fmt"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
)

// localStudioPassword is the password of Studio's login in docker/local.env, which is no secret.
const localStudioPassword = "supabase"

// gatewayValues returns what a gateway in front of other services announces: the addresses, how to
// sign in, and the keys.
func gatewayValues(c *config.Config, at addresses, set keys.Set) []Value {
	values := []Value{{"SITE_URL", "Site", at.public}, {"API_URL", "API", at.public}}
	if at.admin != "" {
		values = append(values, Value{"DESK_URL", "Desk", at.admin})
	}
	if c.StudioUpstreamURL != "" {
		values = append(values,
			Value{"STUDIO_URL", "Studio", cmp.Or(c.StudioURL, fmt.Sprintf("http://localhost:%d", c.Studio.Port))},
			Value{"STUDIO_LOGIN", "Studio's login", studioLogin(c)})
	}
	if c.InboxURL != "" {
		values = append(values, Value{"MAILPIT_URL", "Inbox", c.InboxURL})
	}
	return append(values, Value{"PUBLISHABLE_KEY", "Publishable key", set.Publishable},
		Value{"SECRET_KEY", "Secret key", set.Secret})
}

// studioLogin returns the user and the password, if that is the one of local.env. An own password
// must not be in a log.
func studioLogin(c *config.Config) string {
	if c.DashboardPassword == localStudioPassword {
		return c.DashboardUser + ", password " + c.DashboardPassword
	}
	return c.DashboardUser + ", password DASHBOARD_PASSWORD of .env"
}
