package config

import "time"

// defaults returns the defaults of the official CLI (3.1), without its seed buckets and secrets.
func defaults() Project {
	return Project{
		ProjectID: "daawo",
		API: API{
			Enabled:         true,
			Port:            54321,
			Schemas:         []string{"public", "graphql_public"},
			ExtraSearchPath: []string{"public", "extensions"},
			MaxRows:         1000,
			ExposeNewTables: true,
		},
		DB: DB{
			Port:         54322,
			MajorVersion: 17,
			Distribution: EmbeddedPostgres,
			Migrations:   Migrations{Enabled: true},
			Seed:         Seed{Enabled: true, SQLPaths: []string{"./seed.sql"}},
		},
		EdgeRuntime: EdgeRuntime{Distribution: DenoRuntime, DatabaseRoles: []string{"service_role"}},

		Studio: Studio{Enabled: true, Port: 54323},
		Inbox:  Inbox{Enabled: true, Port: 54324},
		Storage: Storage{
			Enabled:       true,
			FileSizeLimit: 50 << 20,
			S3Protocol:    Switch{Enabled: true},
		},
		Realtime: Realtime{
			Enabled:        true,
			Strict:         true,
			MaxConnections: 10_000, MaxChannelsPerClient: 100, MaxJoinsPerSecond: 500, MaxEventsPerSecond: 100_000,
			MaxPresenceEventsPerSecond: 10_000, MaxPayloadKB: 3000,
			MaxClientKBPerSecond: 10_000, ClientPresenceEvents: 5, ClientPresenceWindow: Duration(30 * time.Second),
		},
		Auth: Auth{
			Enabled:                    true,
			JWTExpiry:                  3600,
			EnableRefreshTokenRotation: true,
			RefreshTokenReuseInterval:  10,
			EnableSignup:               true,
			MinimumPasswordLength:      6,
			RateLimit: AuthRateLimit{
				EmailSent: 2, SMSSent: 30, AnonymousUsers: 30, TokenRefresh: 150,
				SignInSignUps: 30, TokenVerifications: 30, Web3: 30,
			},
			Email: AuthEmail{
				Enabled:              true,
				DoubleConfirmChanges: true,
				MaxFrequency:         Duration(time.Second),
				OTPLength:            6,
				OTPExpiry:            3600,
			},
			SMS: AuthSMS{
				Template:     "Your code is {{ .Code }}",
				MaxFrequency: Duration(5 * time.Second),
			},
			MFA: AuthMFA{
				MaxEnrolledFactors: 10,
				Phone: MFAPhone{
					OTPLength:    6,
					Template:     "Your code is {{ .Code }}",
					MaxFrequency: Duration(5 * time.Second),
				},
			},
			OAuth: AuthOAuthServer{AuthorizationURLPath: "/oauth/consent"},
			SAML:  AuthSAML{RelayStateValidityPeriod: Duration(2 * time.Minute)},
		},
	}
}
