package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// mostUploaded is the largest number of objects that are uploaded. More are written into the table,
// because lists read no files.
const mostUploaded = 20_000

// storageRows compares storage with storage-api (STORAGE_API_URL with STORAGE_API_SERVICE_KEY):
// lists of c.objects objects, and 100 kB and 5 MB up, down and copied.
func (c choice) storageRows(m *model) func(context.Context) ([]row, error) {
	return func(ctx context.Context) ([]row, error) {
		servers, databases := m.storageServers()
		bucket := fmt.Sprintf("bench-%d", time.Now().UnixNano())
		data := bytes.Repeat([]byte("0123456789"), 10_000)
		large := bytes.Repeat(data, 50)
		binary := map[string]string{"Content-Type": "application/octet-stream", "x-upsert": "true"}
		for i, t := range servers {
			if err := m.fillBucket(ctx, t.target, databases[i], bucket, c.objects, data); err != nil {
				return nil, err
			}
			if err := m.sendTo(ctx, t.target, http.MethodPost, "/object/"+bucket+"/large", large, binary); err != nil {
				return nil, err
			}
		}
		download := func(name string) func(target) side {
			return func(t target) side {
				return side{do: func(ctx context.Context, _, _ int) error {
					return m.sendTo(ctx, t, http.MethodGet, "/object/"+bucket+"/"+name, nil, nil)
				}}
			}
		}
		upload := func(folder string, body []byte) func(target) side {
			return func(t target) side {
				return side{do: func(ctx context.Context, client, _ int) error {
					return m.sendTo(ctx, t, http.MethodPost, fmt.Sprintf("/object/%s/%s/%d", bucket, folder, client),
						body, binary)
				}}
			}
		}
		copied := func(name string) func(target) side {
			return func(t target) side {
				return side{do: func(ctx context.Context, client, _ int) error {
					body := fmt.Appendf(nil, `{"bucketId":%q,"sourceKey":%q,"destinationKey":"copies/%s/%d"}`, bucket,
						name, name, client)
					return m.sendTo(ctx, t, http.MethodPost, "/object/copy", body,
						map[string]string{"x-upsert": "true"})
				}}
			}
		}
		post := func(path, body string) func(target) side {
			return func(t target) side {
				return side{do: func(ctx context.Context, _, _ int) error {
					return m.sendTo(ctx, t, http.MethodPost, path+bucket, []byte(body), nil)
				}}
			}
		}
		late := c.objects * 9 / 10
		deep := fmt.Sprintf(`{"prefix":"many","limit":100,"offset":%d}`, late)
		cursor := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "l:many/o%07d\no:asc", late))
		kinds := []struct {
			name string
			make func(target) side
		}{
			{"list", post("/object/list/", `{"prefix":"many","limit":100,"offset":0}`)},
			{"list, a late page", post("/object/list/", deep)},
			{"list of a search", post("/object/list/", `{"prefix":"many","search":"o0001","limit":100}`)},
			{"list-v2", post("/object/list-v2/", `{"prefix":"many/","limit":100,"with_delimiter":true}`)},
			{"list-v2, a late page", post("/object/list-v2/",
				fmt.Sprintf(`{"prefix":"many/","limit":100,"with_delimiter":true,"cursor":%q}`, cursor))},
			{"list-v2 without folders, a late prefix",
				post("/object/list-v2/", fmt.Sprintf(`{"prefix":"many/o%05d","limit":100}`, late/100))},
			{"list-v2 of folders", post("/object/list-v2/", `{"prefix":"","limit":100,"with_delimiter":true}`)},
			{"download", download("data")},
			{"upload", upload("up", data)},
			{"copy", copied("data")},
			{"download of 5 MB", download("large")},
			{"upload of 5 MB", upload("large-up", large)},
			{"copy of 5 MB", copied("large")},
		}
		var rows []row
		for _, k := range kinds {
			rows = append(rows, newRow("storage: "+k.name, servers, k.make))
		}
		return rows, nil
	}
}

// storageServers returns the storage of the stacks and, if STORAGE_API_URL is set, storage-api,
// each with the URL of its database.
func (m *model) storageServers() (servers []served, databases []string) {
	servers = m.servers("/storage/v1", "SERVICE_ROLE_KEY")
	for _, st := range m.stacks {
		databases = append(databases, st.Get("DB_URL"))
	}
	if url := os.Getenv("STORAGE_API_URL"); url != "" {
		servers = append(servers,
			served{"storage-api", target{url: strings.TrimRight(url, "/"), bearer: os.Getenv("STORAGE_API_SERVICE_KEY")}})
		databases = append(databases, os.Getenv("STORAGE_API_DATABASE_URL"))
	}
	return servers, databases
}

// fillBucket makes a bucket with many small objects and one of 100 kB. database is the URL of the
// server's database, which is used for more than mostUploaded objects.
func (m *model) fillBucket(ctx context.Context, t target, database, bucket string, objects int, data []byte) error {
	if err := m.sendTo(ctx, t, http.MethodPost, "/bucket", fmt.Appendf(nil, `{"id":%q,"name":%[1]q}`, bucket),
		nil); err != nil {
		return err
	}
	binary := map[string]string{"Content-Type": "application/octet-stream"}
	if err := m.sendTo(ctx, t, http.MethodPost, "/object/"+bucket+"/data", data, binary); err != nil {
		return err
	}
	if objects > mostUploaded {
		return insertObjects(ctx, database, bucket, objects)
	}
	var wait sync.WaitGroup
	errs := make([]error, 8)
	for w := range errs {
		wait.Go(func() {
			for i := w; i < objects && errs[w] == nil && ctx.Err() == nil; i += len(errs) {
				errs[w] = m.sendTo(ctx, t, http.MethodPost, fmt.Sprintf("/object/%s/many/o%07d", bucket, i),
					[]byte("x"), binary)
			}
		})
	}
	wait.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// insertObjects writes the rows of objects without files.
func insertObjects(ctx context.Context, database, bucket string, objects int) error {
	if database == "" {
		return fmt.Errorf("more than %d objects need STORAGE_API_DATABASE_URL, the URL of the database of STORAGE_API_URL", mostUploaded)
	}
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	const q = `
insert into storage.objects (bucket_id, name, metadata, version)
select $1, 'many/o' || lpad(i::text, 7, '0'), '{"size": 1, "mimetype": "application/octet-stream"}', gen_random_uuid()
  from generate_series(0, $2::int - 1) as i`
	if _, err := conn.Exec(ctx, q, bucket, objects); err != nil {
		return fmt.Errorf("objects of the benchmark: %w", err)
	}
	_, err = conn.Exec(ctx, `analyze storage.objects`)
	return err
}
