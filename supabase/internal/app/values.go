package app

import (
	"cmp"
	"fmt"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
)

// value returns a Value with a label.
func value(name, label, text string) Value { return Value{Name: name, Label: label, Value: text} }

// values returns the values of the whole stack.
func (s *services) values() []Value {
	address := s.Public
	set := s.keys.Current()
	s3ID, s3Secret := s3Keys(set)
	values := []Value{
		value("SITE_URL", "Site", address),
		value("API_URL", "API", address),
		value("INSIDE_URL", "", s.Inside),
		value("REST_URL", "", address+"/rest/v1"),
		value("GRAPHQL_URL", "", address+"/graphql/v1"),
		value("AUTH_URL", "", address+"/auth/v1"),
		value("STORAGE_URL", "", address+"/storage/v1"),
		value("STORAGE_S3_URL", "", address+"/storage/v1/s3"),
		value("FUNCTIONS_URL", "", address+"/functions/v1"),
		value("DB_URL", "Database", s.db.Public()),
	}
	if address := cmp.Or(s.Studio, s.Config.StudioURL); address != "" {
		values = append(values, value("STUDIO_URL", "Studio", address))
	}
	if s.Admin != "" {
		values = append(values, value("DESK_URL", "Desk", s.Admin))
	}
	if s.inbox != "" {
		values = append(values, value("MAILPIT_URL", "Inbox", s.inbox), value("INBUCKET_URL", "", s.inbox))
	}
	return append(values,
		value("PUBLISHABLE_KEY", "Publishable key", set.Publishable),
		value("SECRET_KEY", "Secret key", set.Secret),
		value("ANON_KEY", "", set.Anon),
		value("SERVICE_ROLE_KEY", "", set.ServiceRole),
		value("JWT_SECRET", "", set.JWTSecret),
		value("S3_PROTOCOL_ACCESS_KEY_ID", "", s3ID),
		value("S3_PROTOCOL_ACCESS_KEY_SECRET", "", s3Secret),
		value("S3_PROTOCOL_REGION", "", "local"),
	)
}

// localStudioPassword is the password of Studio's login in docker/local.env, which is no secret.
const localStudioPassword = "supabase"

// gatewayValues returns what a gateway in front of other services announces: the addresses, how to
// sign in, and the keys.
func gatewayValues(c *config.Config, at front.Addresses, set keys.Set) []Value {
	values := []Value{value("SITE_URL", "Site", at.Public), value("API_URL", "API", at.Public)}
	if at.Admin != "" {
		values = append(values, value("DESK_URL", "Desk", at.Admin))
	}
	if c.StudioUpstreamURL != "" {
		values = append(values,
			value("STUDIO_URL", "Studio", cmp.Or(c.StudioURL, fmt.Sprintf("http://localhost:%d", c.Studio.Port))),
			value("STUDIO_LOGIN", "Studio's login", studioLogin(c)))
	}
	if c.InboxURL != "" {
		values = append(values, value("MAILPIT_URL", "Inbox", c.InboxURL))
	}
	return append(values, value("PUBLISHABLE_KEY", "Publishable key", set.Publishable),
		value("SECRET_KEY", "Secret key", set.Secret))
}

// studioLogin returns the user and the password, if that is the one of local.env. An own password
// must not be in a log.
func studioLogin(c *config.Config) string {
	if c.DashboardPassword == localStudioPassword {
		return c.DashboardUser + ", password " + c.DashboardPassword
	}
	return c.DashboardUser + ", password DASHBOARD_PASSWORD of .env"
}
