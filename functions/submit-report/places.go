package submitreport

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// placesJSON is the list of the 18 regions and their districts, with English and Somali names. The
// site's build reads the same file (web/src/content/regions.ts).
//
//go:embed places.json
var placesJSON []byte

// place is a location in the list, by its English names. The zero value means a location that is
// not in the list.
type place struct{ region, district string }

// region is an entry of the list.
type region struct {
	named
	Districts []named
}

type named struct{ Name, Somali string }

// regions returns the list in its order.
var regions = sync.OnceValue(func() []region {
	var list []region
	if err := json.Unmarshal(placesJSON, &list); err != nil {
		panic("places.json: " + err.Error()) // a broken build; every test of the package finds it
	}
	return list
})

// knownPlaces returns a map from 'region' and 'region, district' in either language, folded, to the
// place.
var knownPlaces = sync.OnceValue(func() map[string]place {
	known := map[string]place{}
	for _, r := range regions() {
		for _, region := range []string{r.Name, r.Somali} {
			known[fold(region)] = place{region: r.Name}
			for _, d := range r.Districts {
				for _, district := range []string{d.Name, d.Somali} {
					known[fold(region)+", "+fold(district)] = place{r.Name, d.Name}
				}
			}
		}
	}
	return known
})

// findPlace returns the place for a location that the form's picker sends, the region alone when
// the district is unknown, and the zero value for free text.
func findPlace(location string) place {
	region, district, _ := strings.Cut(location, ",")
	if p, ok := knownPlaces()[fold(region)+", "+fold(district)]; ok {
		return p
	}
	return knownPlaces()[fold(region)]
}

// fold returns s in lower case with single spaces.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
