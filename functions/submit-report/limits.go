package submitreport

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// limitsJSON holds the limits of the form. The site's build reads the same file
// (web/src/screens/report/report.ts).
//
//go:embed limits.json
var limitsJSON []byte

// formLimits are the longest values that a report may have.
type formLimits struct {
	Characters map[string]int // by field, as the check constraints of public.reports
	PhotoBytes int64          // spec §5
	// A phone number with fewer digits is asked about once and then accepted.
	UsualPhoneDigits int
}

// limits returns the content of limits.json.
var limits = sync.OnceValue(func() formLimits {
	var l formLimits
	if err := json.Unmarshal(limitsJSON, &l); err != nil {
		panic("limits.json: " + err.Error()) // a broken build; every test of the package finds it
	}
	return l
})
