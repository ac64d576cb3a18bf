package main

import (
	"slices"
	"strings"
	"testing"
)

func TestFound(t *testing.T) {
	secrets := map[string]string{"It burns the skin": "a report", "kR9-refresh": "a session"}
	for line, want := range map[string]string{
		`{"time":"2026-11-21T11:15:11.774215765Z","level":"DEBUG","msg":"request","path":"/functions/v1/submit-report","status":200}`:        "",
		`{"time":"2026-11-21T11:15:11.774215765+03:00","msg":"listening on IPv4 address \"127.0.0.1\", port 54322","id":"435H6IABQBF2LWHL"}`: "",
		`{"msg":"refused","body":"It burns the skin"}`:                               "a report",
		`{"path":"/auth/v1/token","query":"refresh_token=kR9-refresh"}`:              "a session",
		`{"header":"Bearer eyJhbGciOiJI.eyJpc3MiOiJzdXBh.x"}`:                        "a signed token",
		`{"apikey":"sb_secret_N7UND0UgjKTVK-Uodkm0Hg"}`:                              "a secret key",
		`{"phone":"+252 61 234 5678"}`:                                               "a phone number",
		`GET /reports?product_name=eq.Contract+85997301-1443-4fd0-a12f-dd059ea66085`: "",
		`{"phone":"+252612345678","text":"It burns the skin, kR9-refresh"}`:          "a phone number, a report, a session",
	} {
		all := slices.Sorted(slices.Values(found(line, secrets)))
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
