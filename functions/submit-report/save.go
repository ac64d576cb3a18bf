package submitreport

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"daawo/functions/edge"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// receipt is the reply. PhotoAttached is only there, as false, when a photo was named that does not exist or belongs to
// another report.
type receipt struct {
	ID            string    `json:"id"`
	Reference     string    `json:"reference"`
	ReceivedAt    time.Time `json:"received_at"`
	PhotoAttached *bool     `json:"photo_attached,omitempty"`
}

// idempotency says which post this is and until when a repetition is recognised.
type idempotency struct {
	key, body string // hashes, hex
	lives     time.Duration
}

const (
	keyLife     = 30 * 24 * time.Hour // of a key that the client chose
	keylessLife = 10 * time.Minute    // of a post that has none, keyed by its content
	maxKey      = 255
)

// keyOf makes the record's key. The hash of the content is keyed, so that nobody who reads the table can test guesses of
// what somebody reported. photo is the content of a photo posted with the form.
func keyOf(ctx context.Context, env *edge.Env, header string, r report, photo []byte) (idempotency, error) {
	if len(header) > maxKey {
		return idempotency{}, edge.Errorf(http.StatusBadRequest, "bad_idempotency_key", "Idempotency-Key is longer than %d characters.", maxKey)
	}
	secret, err := env.Key(ctx, "submit-report")
	if err != nil {
		return idempotency{}, err
	}
	content, err := json.Marshal([]string{r.name, r.phone, r.productName, r.batchNumber, r.expiryDate, r.whereBought,
		r.issueDescription, r.location, r.photoURL})
	if err != nil {
		return idempotency{}, err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(content)
	mac.Write(photo)
	body := hex.EncodeToString(mac.Sum(nil))
	if header == "" {
		return idempotency{key: body, body: body, lives: keylessLife}, nil
	}
	key := sha256.Sum256([]byte(header))
	return idempotency{key: hex.EncodeToString(key[:]), body: body, lives: keyLife}, nil
}

// save stores the report once per key and gives every repetition the first one's receipt.
func save(ctx context.Context, env *edge.Env, r report, key idempotency) (receipt, error) {
	for attempt := 1; ; attempt++ {
		receipt, err := saveOnce(ctx, env, r, key)
		// Two reports want one photo, or a reference came up twice: once more, and the statement sees the other one.
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "23505" && attempt < 4 {
			continue
		}
		return receipt, err
	}
}

func saveOnce(ctx context.Context, env *edge.Env, r report, key idempotency) (receipt, error) {
	var saved receipt
	err := env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		stored, err := insert(ctx, tx, r, key, &saved)
		if err != nil {
			return err
		}
		if !stored {
			return replay(ctx, tx, key, &saved)
		}
		if r.photoURL != "" && saved.PhotoAttached == nil {
			if err := env.CleanPhoto(ctx, tx, photoBucket, r.photoURL); err != nil {
				return err
			}
		}
		return env.Notify(ctx, tx, notice(r, saved))
	})
	return saved, err
}

// insert stores report and key in one statement and says false when the key is taken. An expired record that has not
// been pruned yet gives its key back.
func insert(ctx context.Context, tx pgx.Tx, r report, key idempotency, saved *receipt) (bool, error) {
	const q = `
with photo as (
  select o.name
    from storage.objects as o
   where o.bucket_id = 'report-photos' and o.name = $12
     and not exists (select from public.reports as other where other.photo_url = o.name)
), key as (
  insert into private.idempotency_keys as k (key_hash, body_hash, report_id, reference, photo_kept, expires_at)
  select $1, $2, gen_random_uuid(), $4, case when $12 <> '' then exists (select from photo) end, now() + $3
  on conflict (key_hash) do update
    set body_hash = excluded.body_hash, report_id = excluded.report_id, reference = excluded.reference,
        photo_kept = excluded.photo_kept, created_at = now(), expires_at = excluded.expires_at
    where k.expires_at <= now()
  returning report_id, reference, photo_kept
), twin as (
  select t.id
    from public.reports as t
   where lower(btrim(t.product_name)) = lower(btrim($5)) and t.created_at > now() - interval '1 day'
     and (t.phone_e164 = nullif($15, '') or t.issue_description = $9
          or (t.batch_number = nullif($6, '') and t.location = nullif($10, '')))
   order by t.created_at
   limit 1
)
insert into public.reports (id, reference, idempotency_key, product_name, batch_number, expiry_date, where_bought,
  issue_description, location, region, district, photo_url, name, phone, phone_e164, language, possible_duplicate_of)
select key.report_id, key.reference, $1, $5, nullif($6, ''), nullif($7, '')::date, nullif($8, ''),
  $9, nullif($10, ''), nullif($11, ''), nullif($17, ''), (select name from photo), nullif($13, ''), nullif($14, ''),
  nullif($15, ''), $16::public.site_language, (select id from twin)
  from key
returning id::text, reference, created_at, $12 <> '' and photo_url is null`
	var lost bool
	err := tx.QueryRow(ctx, q, key.key, key.body, key.lives, newReference(), r.productName, r.batchNumber, r.expiryDate,
		r.whereBought, r.issueDescription, r.location, r.place.region, r.photoURL, r.name, r.phone, r.phoneE164, r.language,
		r.place.district).Scan(&saved.ID, &saved.Reference, &saved.ReceivedAt, &lost)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	saved.setLost(lost)
	saved.ReceivedAt = saved.ReceivedAt.UTC()
	return err == nil, err
}

// replay answers a repetition. A statement of its own, because only a later one sees what a concurrent first post has
// committed meanwhile.
func replay(ctx context.Context, tx pgx.Tx, key idempotency, saved *receipt) error {
	const q = `
select report_id::text, reference, created_at, photo_kept is false, body_hash = $2
  from private.idempotency_keys where key_hash = $1`
	var lost, same bool
	if err := tx.QueryRow(ctx, q, key.key, key.body).Scan(&saved.ID, &saved.Reference, &saved.ReceivedAt, &lost, &same); err != nil {
		return err
	}
	if !same {
		return edge.Errorf(http.StatusUnprocessableEntity, "idempotency_key_reused", "")
	}
	saved.setLost(lost)
	saved.ReceivedAt = saved.ReceivedAt.UTC()
	return nil
}

func (r *receipt) setLost(lost bool) {
	r.PhotoAttached = nil
	if lost {
		r.PhotoAttached = new(bool)
	}
}

// newReference makes a reference such as DW-7K3M-9QXA: 40 random bits in Crockford's base 32, as private.new_reference()
// does for rows that are added by hand.
func newReference() string {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	for i, b := range random {
		random[i] = alphabet[b%32]
	}
	return "DW-" + string(random[:4]) + "-" + string(random[4:])
}

// notice is what the administrators are told. It leaves the stack by mail: the reference, the region and the time, and
// nothing that the visitor wrote.
func notice(r report, saved receipt) edge.Notice {
	region := r.place.region
	if region == "" {
		region = "not given or not recognised"
	}
	return edge.Notice{
		Kind:     "report.received",
		Subject:  "New product report " + saved.Reference,
		ReportID: saved.ID, Reference: saved.Reference,
		Facts: []edge.Fact{
			{Name: "Reference", Value: saved.Reference},
			{Name: "Region", Value: region},
			{Name: "Received", Value: saved.ReceivedAt.Format("2006-01-02 15:04 MST")},
		},
	}
}
