package submitreport

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// countriesJSON is the list of the countries where most Somalis live. The site's build reads the
// same file (web/src/content/countries.ts).
//
//go:embed countries.json
var countriesJSON []byte

// country is an entry of the list: the calling code without '+', and the names.
type country struct{ Code, En, So string }

// Name returns the name in a language.
func (c country) Name(language string) string {
	if language == "so" {
		return c.So
	}
	return c.En
}

// countries returns the list in its order, with Somalia first.
var countries = sync.OnceValue(func() []country {
	var list []country
	if err := json.Unmarshal(countriesJSON, &list); err != nil {
		panic("countries.json: " + err.Error()) // a broken build; every test of the package finds it
	}
	return list
})

// countriesWith returns a posted calling code, or Somalia's for a text that is none, and the list,
// which has that code. The site's script offers all countries, so the code may be of another one,
// which then has no name.
func countriesWith(posted string) (string, []country) {
	code := strings.TrimPrefix(latinDigits(cleanLine(&posted)), "+")
	list := countries()
	for _, c := range list {
		if c.Code == code {
			return code, list
		}
	}
	if code == "" || len(code) > 4 || strings.Trim(code, "0123456789") != "" {
		return list[0].Code, list
	}
	return code, append([]country{{Code: code}}, list...)
}
