package app

import (
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
)

// composeConfig returns the settings of a service of the compose form, with variables of an .env.
func composeConfig(t *testing.T, service string, env ...string) *config.Config {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"../../../compose.yaml"}, cli.WithEnv(env))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	given := project.Services[service].Environment
	c, err := config.Load(config.Sources{Getenv: func(name string) (string, bool) {
		value, ok := given[name]
		if !ok || value == nil {
			return "", false
		}
		return *value, true
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ours are the services of the compose form that run this program.
var ours = []string{"migrate", "functions", "gateway"}

// TestComposeWithoutEnv checks that our services accept the local keys if all ports are published
// on loopback, and that these are the official CLI's.
func TestComposeWithoutEnv(t *testing.T) {
	for _, name := range ours {
		c := composeConfig(t, name)
		if err := c.CheckPublic(); err != nil || !c.Loopback() {
			t.Errorf("%s: loopback %v, %v", name, c.Loopback(), err)
		}
	}
	c := composeConfig(t, "gateway")
	set, _, err := keyring.FromEnvironment(c.Keys)
	if err != nil {
		t.Fatal(err)
	}
	demo := keys.Demo()
	if set.JWTSecret != demo.JWTSecret || set.Anon != demo.Anon || set.ServiceRole != demo.ServiceRole ||
		set.Publishable != demo.Publishable || set.Secret != demo.Secret {
		t.Error("the keys are not the official CLI's")
	}
	if id, secret := s3Keys(demo); !strings.Contains(strings.Join(composeConfig(t, "migrate").OtherSecrets, " "), id+
		" "+secret) {
		t.Error("the S3 credentials are not the official CLI's")
	}
}

// TestComposeRefusesLocalSecrets checks that no service starts with a secret of docker/local.env
// once others can reach the installation, by its address or by a published port.
func TestComposeRefusesLocalSecrets(t *testing.T) {
	for _, public := range []string{"SITE_URL=https://example.org", "API_BIND=0.0.0.0", "STUDIO_BIND=192.0.2.1",
		"POOLER_BIND=0.0.0.0"} {
		for service, variables := range map[string][]string{
			"migrate":   {"JWT_SECRET", "DATABASE_URL", "OTHER_SECRETS: number 1", "OTHER_SECRETS: number 6"},
			"functions": {"JWT_SECRET", "DATABASE_URL", "SMTP_HOST"},
			"gateway":   {"JWT_SECRET", "DASHBOARD_PASSWORD"},
		} {
			err := composeConfig(t, service, public).CheckSecrets()
			if service == "functions" {
				err = composeConfig(t, service, public).CheckPublic()
			}
			for _, name := range variables {
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s with %s does not refuse %s: %v", service, public, name, err)
				}
			}
		}
	}
}

// TestComposeAnnouncement checks what the gateway prints when it is ready: the addresses and how to
// sign in, and no secret of an installation that has its own.
func TestComposeAnnouncement(t *testing.T) {
	for _, tt := range []struct {
		env    []string
		shows  []string
		hidden []string
	}{
		{nil, []string{"http://localhost:54321", "http://localhost:54323", "http://localhost:54324",
			"supabase, password supabase", keys.Demo().Publishable}, nil},
		{[]string{"DASHBOARD_PASSWORD=0f9bb2c7a54e41d39f5c"}, []string{"supabase, password DASHBOARD_PASSWORD of .env"},
			[]string{"0f9bb2c7a54e41d39f5c"}},
		{[]string{"SITE_URL=https://example.org", "SUPABASE_SECRET_KEY=sb_secret_own", "INBOX_URL="},
			[]string{"https://example.org", "http://localhost:54323"}, []string{"sb_secret_own", "54324", "password"}},
	} {
		c := composeConfig(t, "gateway", tt.env...)
		a := New(Options{Config: c})
		set, _, err := keyring.FromEnvironment(c.Keys)
		if err != nil {
			t.Fatal(err)
		}
		a.describe = func() []Value { return gatewayValues(c, front.Addresses{Public: c.SiteURL}, set) }
		var out strings.Builder
		shown, left := a.Info().Announcement()
		if err := shown.Write(&out, "pretty"); err != nil {
			t.Fatal(err)
		}
		if left != (len(tt.env) == 3) {
			t.Errorf("%v: values are left out: %v", tt.env, left)
		}
		for _, want := range tt.shows {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: not shown: %s in\n%s", tt.env, want, &out)
			}
		}
		for _, secret := range tt.hidden {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%v: %s is shown in\n%s", tt.env, secret, &out)
			}
		}
	}
}
