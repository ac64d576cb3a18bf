// Package functions is the registry: the name in the URL of every function of the project.
//
// The stack imports it, functions import nothing but functions/edge.
package functions

import (
	"daawo/functions/edge"
	submitreport "daawo/functions/submit-report"
	trackdownload "daawo/functions/track-download"
)

// All is every function by its name in the URL, which is also its folder's name.
var All = map[string]edge.Func{
	"submit-report":  submitreport.Func,
	"track-download": trackdownload.Func,
}
