package ast

// Preferences are the supported parts of the Prefer header (RFC 7240). "" and nil mean that a
// preference is not given.
type Preferences struct {
	Resolution  string // merge-duplicates, ignore-duplicates
	Return      string // representation, minimal, headers-only
	Count       string // exact, planned, estimated
	Tx          string // commit, rollback; only if the configuration allows it
	Missing     string // default, null
	Handling    string // strict, lenient
	Timezone    *string
	MaxAffected *int64
	Invalid     []string // unknown preferences
}

// Strict reports whether unknown preferences are errors.
func (p Preferences) Strict() bool { return p.Handling == "strict" }

// MediaKind distinguishes the media types that the engine supports.
type MediaKind uint8

// The media kinds.
const (
	MediaOther MediaKind = iota
	MediaAny
	MediaJSON
	MediaGeoJSON
	MediaCSV
	MediaText
	MediaXML
	MediaOpenAPI
	MediaForm
	MediaBytes
	MediaArrayStripped // application/vnd.pgrst.array+json;nulls=stripped
	MediaObject        // application/vnd.pgrst.object+json
	MediaObjectStripped
	MediaPlan // application/vnd.pgrst.plan
)

// MediaType is a media type of Accept or Content-Type. It is comparable.
type MediaType struct {
	Kind MediaKind
	Name string // MediaOther: the type as given, with its parameters

	// MediaPlan only.
	For     MediaKind
	ForName string // the Name that belongs to For
	JSON    bool   // +json rather than +text
	Options string // the supported options, joined with "|"
}

// Singular reports whether the reply must be one object.
func (m MediaType) Singular() bool { return m.Kind == MediaObject || m.Kind == MediaObjectStripped }

// PlanFor returns the media type whose plan the client wants.
func (m MediaType) PlanFor() MediaType { return MediaType{Kind: m.For, Name: m.ForName} }

// Mime returns the media type without charset.
func (m MediaType) Mime() string {
	switch m.Kind {
	case MediaAny:
		return "*/*"
	case MediaJSON:
		return "application/json"
	case MediaGeoJSON:
		return "application/geo+json"
	case MediaCSV:
		return "text/csv"
	case MediaText:
		return "text/plain"
	case MediaXML:
		return "text/xml"
	case MediaOpenAPI:
		return "application/openapi+json"
	case MediaForm:
		return "application/x-www-form-urlencoded"
	case MediaBytes:
		return "application/octet-stream"
	case MediaArrayStripped:
		return "application/vnd.pgrst.array+json;nulls=stripped"
	case MediaObject:
		return "application/vnd.pgrst.object+json"
	case MediaObjectStripped:
		return "application/vnd.pgrst.object+json;nulls=stripped"
	case MediaPlan:
		s := "application/vnd.pgrst.plan+text"
		if m.JSON {
			s = "application/vnd.pgrst.plan+json"
		}
		s += `; for="` + m.PlanFor().Mime() + `"`
		if m.Options != "" {
			s += "; options=" + m.Options
		}
		return s
	default:
		return m.Name
	}
}

// ContentType returns the media type as the value of Content-Type, with a charset for text formats.
func (m MediaType) ContentType() string {
	switch m.Kind {
	case MediaBytes, MediaOther:
		return m.Mime()
	default:
		return m.Mime() + "; charset=utf-8"
	}
}
