package s3

import (
	"net/http"
	"net/url"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

// listObjects is ListObjectsV2 with list-type=2, otherwise ListObjects.
func (c *call) listObjects() error {
	second := c.query.Get("list-type") == "2"
	var p objects.List
	if second {
		p.Cursor, p.StartAfter = c.query.Get("continuation-token"), c.query.Get("start-after")
	} else {
		p.StartAfter = c.query.Get("marker")
	}
	page, err := readPage(c, &p)
	if err != nil {
		return err
	}
	doc := listReply{Xmlns: namespace, Name: c.bucket, Prefix: c.encoded(p.Prefix), MaxKeys: p.Limit,
		Delimiter: c.encoded(p.Delimiter), EncodingType: c.query.Get("encoding-type"), IsTruncated: page.More,
		CommonPrefixes: prefixes(c, page)}
	for _, o := range page.Objects {
		doc.Contents = append(doc.Contents, objectEntry{c.encoded(o.Name), stateOf(o)})
	}
	if second {
		count := len(page.Objects) + len(page.Folders)
		doc.KeyCount, doc.ContinuationToken, doc.StartAfter = &count, p.Cursor, p.StartAfter
		doc.NextContinuationToken = page.Next
	} else {
		marker := c.encoded(p.StartAfter)
		doc.Marker = &marker
		if page.More && p.Delimiter != "" {
			doc.NextMarker = c.encoded(nextMarker(page, p.Delimiter))
		}
	}
	return reply(c.w, http.StatusOK, doc)
}

// listVersions is ListObjectVersions. The only version of each object is nullVersion. Clients that
// delete all versions of a prefix, such as "rclone purge", list them this way.
func (c *call) listVersions() error {
	p := objects.List{StartAfter: c.query.Get("key-marker")}
	page, err := readPage(c, &p)
	if err != nil {
		return err
	}
	doc := versionsReply{Xmlns: namespace, Name: c.bucket, Prefix: c.encoded(p.Prefix), MaxKeys: p.Limit,
		KeyMarker: c.encoded(p.StartAfter), VersionIDMarker: c.query.Get("version-id-marker"),
		Delimiter: c.encoded(p.Delimiter), EncodingType: c.query.Get("encoding-type"), IsTruncated: page.More,
		CommonPrefixes: prefixes(c, page)}
	for _, o := range page.Objects {
		doc.Versions = append(doc.Versions, versionEntry{c.encoded(o.Name), nullVersion, true, stateOf(o)})
	}
	if page.More {
		doc.NextKeyMarker, doc.NextVersionIDMarker = c.encoded(nextMarker(page, p.Delimiter)), nullVersion
	}
	return reply(c.w, http.StatusOK, doc)
}

// readPage reads the parameters that all listings have into p and returns the page.
func readPage(c *call, p *objects.List) (*objects.Page, error) {
	limit, err := c.number("max-keys", 1000, 1000)
	if err != nil {
		return nil, err
	}
	if encoding := c.query.Get("encoding-type"); encoding != "" && encoding != "url" {
		return nil, apierror.Errorf(400, "InvalidRequest",
			"Querystring, encoding-type must be equal to one of the allowed values")
	}
	if _, err := c.h.Store.Buckets.Get(c.r.Context(), c.caller.Service(), c.bucket); err != nil {
		return nil, err
	}
	p.Prefix, p.Delimiter, p.Limit = c.query.Get("prefix"), c.query.Get("delimiter"), limit
	if limit == 0 {
		return &objects.Page{}, nil
	}
	return c.h.Store.List(c.r.Context(), c.caller, c.bucket, *p)
}

func stateOf(o objects.Entry) objectState {
	m, _ := (&objects.Object{Metadata: o.Metadata}).Meta()
	e := objectState{ETag: m.ETag, StorageClass: "STANDARD"}
	if m.Size != nil {
		e.Size = *m.Size
	}
	if o.UpdatedAt != nil {
		e.LastModified = objects.Timestamp(*o.UpdatedAt)
	}
	return e
}

func prefixes(c *call, page *objects.Page) []prefixEntry {
	var list []prefixEntry
	for _, f := range page.Folders {
		list = append(list, prefixEntry{c.encoded(f.Name)})
	}
	return list
}

// nextMarker returns the last entry of a page. A folder ends in its delimiter; otherwise, if an
// object has the same name, the next page would start with the folder again.
func nextMarker(page *objects.Page, delimiter string) string {
	if n := len(page.Folders); n > 0 {
		if last := page.Folders[n-1].Name; last == page.NextKey || last == page.NextKey+delimiter {
			return page.NextKey + delimiter
		}
	}
	return page.NextKey
}

// encoded percent-encodes s if the request has encoding-type=url.
func (c *call) encoded(s string) string {
	if c.query.Get("encoding-type") != "url" {
		return s
	}
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// nullVersion is the id that S3 gives to the version of an object in a bucket without versions.
const nullVersion = "null"

var errNoVersion = apierror.Errorf(404, "NoSuchVersion", "The specified version does not exist.")

// isCurrent reports whether a version id of a request means the stored object.
func isCurrent(id string) bool { return id == "" || id == nullVersion }
