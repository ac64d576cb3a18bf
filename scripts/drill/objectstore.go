package main

import (
	"net"
	"net/http"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// objectStore is an S3 server in this process. It lets two servers share files as on two hosts.
type objectStore struct {
	server  *http.Server
	address string
}

const objectBucket = "daawo"

func newObjectStore() (*objectStore, error) {
	backend := s3mem.New()
	if err := backend.CreateBucket(objectBucket); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &objectStore{server: &http.Server{Handler: gofakes3.New(backend).Server()}, address: listener.Addr().String()}
	go func() { _ = o.server.Serve(listener) }()
	return o, nil
}

// environment returns storage-api's variables for the store.
func (o *objectStore) environment() []string {
	return []string{
		"STORAGE_BACKEND=s3",
		"STORAGE_S3_BUCKET=" + objectBucket,
		"STORAGE_S3_ENDPOINT=http://" + o.address,
		"STORAGE_S3_FORCE_PATH_STYLE=true",
		"STORAGE_S3_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=drill",
		"AWS_SECRET_ACCESS_KEY=drill-secret",
	}
}

func (o *objectStore) close() { _ = o.server.Close() }
