package submitreport

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// placesJSON is the site's reference list: 18 regions with their districts, English and Somali names.
//
//go:embed places.json
var placesJSON []byte

// place is a location that the reference list knows, by its English names. The zero value is an unknown one.
type place struct{ region, district string }

// region is an entry of the reference list.
type region struct {
	named
	Districts []named
}

type named struct{ Name, Somali string }

// regions is the reference list in its order.
var regions = sync.OnceValue(func() []region {
	var list []region
	if err := json.Unmarshal(placesJSON, &list); err != nil {
		panic("places.json: " + err.Error()) // a fault of the build, caught by the first test
	}
	return list
})

// knownPlaces maps 'region' and 'region, district' in either language, folded, to the place.
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

// findPlace recognises what the form's location picker sends. Free text stays unknown and is kept as it is; a known
// region with an unknown district gives the region.
func findPlace(location string) place {
	region, district, _ := strings.Cut(location, ",")
	if p, ok := knownPlaces()[fold(region)+", "+fold(district)]; ok {
		return p
	}
	return knownPlaces()[fold(region)]
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
