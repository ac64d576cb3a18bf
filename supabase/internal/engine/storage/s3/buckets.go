package s3

import (
	"net/http"
	"strconv"

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
