package s3

import (
	"bytes"
	"encoding/xml"
	"maps"
	"net/http"
	"strings"

	"daawo/supabase/internal/base/apierror"
)

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// maxDocument is the largest request document in bytes. It fits 1,000 keys or 10,000 parts.
const maxDocument = 2 << 20

type errorReply struct {
	XMLName  xml.Name `xml:"Error"`
	Xmlns    string   `xml:"xmlns,attr"`
	Resource string
	Code     string
	Message  string
}

// reply sends an XML document.
func reply(w http.ResponseWriter, status int, doc any) error {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`)
	if err := xml.NewEncoder(&b).Encode(doc); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
	return nil
}

// fail sends an error as XML and returns its status. Unlike the REST API, S3 uses the real HTTP
// status.
func fail(w http.ResponseWriter, r *http.Request, err error) (status int) {
	status, code, message := http.StatusInternalServerError, "InternalError", "Internal Server Error"
	if e, ok := apierror.AsError(err); ok {
		status, code, message = e.Status, e.Code, e.Message
		maps.Copy(w.Header(), e.Header)
	}
	if status == 304 || r.Method == http.MethodHead {
		w.WriteHeader(status)
		return status
	}
	resource := strings.Trim(strings.TrimPrefix(r.URL.EscapedPath(), Root), "/")
	_ = reply(w, status, errorReply{Xmlns: namespace, Resource: resource, Code: code, Message: message})
	return status
}

type owner struct{ ID, DisplayName string }

type bucketEntry struct{ Name, CreationDate string }

type listBucketsReply struct {
	XMLName xml.Name      `xml:"ListAllMyBucketsResult"`
	Xmlns   string        `xml:"xmlns,attr"`
	Owner   *owner        `xml:",omitempty"`
	Buckets []bucketEntry `xml:"Buckets>Bucket"`
}

type objectEntry struct {
	Key string
	objectState
}

// objectState is what the entries of listings say about an object.
type objectState struct {
	LastModified, ETag string
	Size               int64
	StorageClass       string
}

type versionEntry struct {
	Key, VersionId string
	IsLatest       bool
	objectState
}

type versionsReply struct {
	XMLName             xml.Name       `xml:"ListVersionsResult"`
	Xmlns               string         `xml:"xmlns,attr"`
	Name                string         `xml:"Name"`
	Prefix              string         `xml:"Prefix"`
	KeyMarker           string         `xml:"KeyMarker"`
	VersionIDMarker     string         `xml:"VersionIdMarker"`
	NextKeyMarker       string         `xml:"NextKeyMarker,omitempty"`
	NextVersionIDMarker string         `xml:"NextVersionIdMarker,omitempty"`
	MaxKeys             int            `xml:"MaxKeys"`
	Delimiter           string         `xml:"Delimiter,omitempty"`
	EncodingType        string         `xml:"EncodingType,omitempty"`
	IsTruncated         bool           `xml:"IsTruncated"`
	Versions            []versionEntry `xml:"Version"`
	CommonPrefixes      []prefixEntry  `xml:"CommonPrefixes"`
}

type prefixEntry struct{ Prefix string }

type listReply struct {
	XMLName               xml.Name      `xml:"ListBucketResult"`
	Xmlns                 string        `xml:"xmlns,attr"`
	Name                  string        `xml:"Name"`
	Prefix                string        `xml:"Prefix"`
	Marker                *string       `xml:"Marker,omitempty"`
	NextMarker            string        `xml:"NextMarker,omitempty"`
	ContinuationToken     string        `xml:"ContinuationToken,omitempty"`
	NextContinuationToken string        `xml:"NextContinuationToken,omitempty"`
	StartAfter            string        `xml:"StartAfter,omitempty"`
	KeyCount              *int          `xml:"KeyCount,omitempty"`
	MaxKeys               int           `xml:"MaxKeys"`
	Delimiter             string        `xml:"Delimiter,omitempty"`
	EncodingType          string        `xml:"EncodingType,omitempty"`
	IsTruncated           bool          `xml:"IsTruncated"`
	Contents              []objectEntry `xml:"Contents"`
	CommonPrefixes        []prefixEntry `xml:"CommonPrefixes"`
}

type deleteRequest struct {
	Quiet   bool `xml:"Quiet"`
	Objects []struct {
		Key       string `xml:"Key"`
		ETag      string `xml:"ETag"`
		VersionId string `xml:"VersionId"`
	} `xml:"Object" json:"Object"`
}

type deletedEntry struct {
	Key       string
	VersionId string `xml:",omitempty"`
}

type deleteErrorEntry struct {
	deletedEntry
	Code, Message string
}

type deleteReply struct {
	XMLName xml.Name           `xml:"DeleteResult"`
	Xmlns   string             `xml:"xmlns,attr"`
	Deleted []deletedEntry     `xml:"Deleted"`
	Errors  []deleteErrorEntry `xml:"Error"`
}

type copyReply struct {
	XMLName            xml.Name
	Xmlns              string `xml:"xmlns,attr"`
	ETag, LastModified string
}

type initiateReply struct {
	XMLName               xml.Name `xml:"InitiateMultipartUploadResult"`
	Xmlns                 string   `xml:"xmlns,attr"`
	Bucket, Key, UploadId string
}

type completeRequest struct {
	Parts []struct {
		PartNumber text    `xml:"PartNumber"`
		ETag       *string `xml:"ETag"`
	} `xml:"Part" json:"Part"`
}

type completeReply struct {
	XMLName                     xml.Name
	Xmlns                       string `xml:"xmlns,attr,omitempty"`
	Location, Bucket, Key, ETag string
}

type partEntry struct {
	PartNumber         int
	LastModified, ETag string
	Size               int64
}

type partsReply struct {
	XMLName               xml.Name `xml:"ListPartsResult"`
	Xmlns                 string   `xml:"xmlns,attr"`
	Bucket, Key, UploadId string
	PartNumberMarker      string      `xml:"PartNumberMarker,omitempty"`
	NextPartNumberMarker  int         `xml:"NextPartNumberMarker,omitempty"`
	MaxParts              int         `xml:"MaxParts"`
	IsTruncated           bool        `xml:"IsTruncated"`
	Parts                 []partEntry `xml:"Part"`
}

type uploadEntry struct{ Key, Initiated, UploadId, StorageClass string }

type uploadsReply struct {
	XMLName            xml.Name      `xml:"ListMultipartUploadsResult"`
	Xmlns              string        `xml:"xmlns,attr"`
	Bucket             string        `xml:"Bucket"`
	Name               string        `xml:"Name"`
	Prefix             string        `xml:"Prefix"`
	KeyMarker          string        `xml:"KeyMarker,omitempty"`
	UploadIDMarker     string        `xml:"UploadIdMarker,omitempty"`
	NextKeyMarker      string        `xml:"NextKeyMarker,omitempty"`
	NextUploadIDMarker string        `xml:"NextUploadIdMarker,omitempty"`
	Uploads            []uploadEntry `xml:"Upload"`
	IsTruncated        bool          `xml:"IsTruncated"`
	MaxUploads         int           `xml:"MaxUploads"`
	Delimiter          string        `xml:"Delimiter,omitempty"`
	EncodingType       string        `xml:"EncodingType,omitempty"`
	KeyCount           int           `xml:"KeyCount"`
	CommonPrefixes     []prefixEntry `xml:"CommonPrefixes"`
}

type locationReply struct {
	XMLName xml.Name `xml:"LocationConstraint"`
	Xmlns   string   `xml:"xmlns,attr"`
	Region  string   `xml:",chardata"`
}

type versioningReply struct {
	XMLName   xml.Name `xml:"VersioningConfiguration"`
	Xmlns     string   `xml:"xmlns,attr"`
	Status    string
	MfaDelete string
}

type taggingReply struct {
	XMLName xml.Name `xml:"Tagging"`
	Xmlns   string   `xml:"xmlns,attr"`
	TagSet  string
}
