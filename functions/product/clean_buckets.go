package product

import "daawo/supabase/stack"

// cleanBuckets is the bucket of the photos of reports. Its uploads lose their metadata before they
// are stored.
var cleanBuckets = []stack.CleanBucket{{
	ID: "report-photos", HideNames: true, RefuseCopies: true,
	Refusal: map[string]string{
		"":   "Please select an image file.",
		"en": "Please select an image file.",
		"so": "Fadlan dooro fayl sawir ah.",
	},
}}
