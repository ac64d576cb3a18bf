package s3

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

func (c *call) listBuckets() error {
	list, err := c.h.Store.Buckets.List(c.r.Context(), c.caller, objects.BucketPage{Column: "name"})
	if err != nil {
		return err
	}
	doc := listBucketsReply{Xmlns: namespace, Buckets: make([]bucketEntry, len(list))}
	for i, b := range list {
		doc.Buckets[i] = bucketEntry{b.Name, objects.Timestamp(b.CreatedAt)}
	}
	return reply(c.w, http.StatusOK, doc)
}

func (c *call) createBucket() error {
	public := c.r.Header.Get("X-Amz-Acl") == "public-read"
	if err := c.h.Store.Buckets.Create(c.r.Context(), c.caller, c.bucket, c.bucket,
		objects.BucketFields{Public: &public}); err != nil {
		return err
	}
	c.w.Header().Set("Location", "/"+c.bucket)
	c.w.WriteHeader(http.StatusOK)
	return nil
}

func (c *call) headBucket() error {
	if _, err := c.h.Store.Buckets.Get(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	c.w.Header().Set("X-Amz-Bucket-Region", c.h.Region)
	c.w.WriteHeader(http.StatusOK)
	return nil
}

func (c *call) deleteBucket() error {
	if err := c.h.Store.Buckets.Delete(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (c *call) getLocation() error {
	if _, err := c.h.Store.Buckets.Get(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	return reply(c.w, http.StatusOK, locationReply{Xmlns: namespace, Region: c.h.Region})
}

func (c *call) getVersioning() error {
	if _, err := c.h.Store.Buckets.Get(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	return reply(c.w, http.StatusOK, versioningReply{Xmlns: namespace, Status: "Suspended", MfaDelete: "Disabled"})
}

// number reads a query parameter that must not be negative. Values above most count as most. The
// operation must handle 0 itself: a page of 0 entries has no last entry to continue from.
func (c *call) number(name string, otherwise, most int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, apierror.Errorf(400, "InvalidRequest", "Querystring, %s must be integer", name)
	}
	return min(n, most), nil
}

// listObjects is ListObjectsV2 with list-type=2, otherwise ListObjects.
func (c *call) listObjects() error {
	limit, err := c.number("max-keys", 1000, 1000)
	if err != nil {
		return err
	}
	if encoding := c.query.Get("encoding-type"); encoding != "" && encoding != "url" {
		return apierror.Errorf(400, "InvalidRequest",
			"Querystring, encoding-type must be equal to one of the allowed values")
	}
	if _, err := c.h.Store.Buckets.Get(c.r.Context(), c.caller.Service(), c.bucket); err != nil {
		return err
	}
	second := c.query.Get("list-type") == "2"
	p := objects.List{Prefix: c.query.Get("prefix"), Delimiter: c.query.Get("delimiter"), Limit: limit}
	if second {
		p.Cursor, p.StartAfter = c.query.Get("continuation-token"), c.query.Get("start-after")
	} else {
		p.StartAfter = c.query.Get("marker")
	}
	page := &objects.Page{}
	if limit > 0 {
		if page, err = c.h.Store.List(c.r.Context(), c.caller, c.bucket, p); err != nil {
			return err
		}
	}
	doc := listReply{Xmlns: namespace, Name: c.bucket, Prefix: c.encoded(p.Prefix), MaxKeys: limit,
		Delimiter: c.encoded(p.Delimiter), EncodingType: c.query.Get("encoding-type"), IsTruncated: page.More}
	for _, o := range page.Objects {
		m, _ := (&objects.Object{Metadata: o.Metadata}).Meta()
		e := objectEntry{Key: c.encoded(o.Name), ETag: m.ETag, StorageClass: "STANDARD"}
		if m.Size != nil {
			e.Size = *m.Size
		}
		if o.UpdatedAt != nil {
			e.LastModified = objects.Timestamp(*o.UpdatedAt)
		}
		doc.Contents = append(doc.Contents, e)
	}
	for _, f := range page.Folders {
		doc.CommonPrefixes = append(doc.CommonPrefixes, prefixEntry{c.encoded(f.Name)})
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
