package submitreport

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"daawo/supabase/edge"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// receipt is the reply. PhotoAttached is present, and false, only when the named photo does not
// exist or belongs to another report.
type receipt struct {
	ID            string    `json:"id"`
	Reference     string    `json:"reference" doc:"Short and readable aloud, such as DW-7K3M-9QXA."`
	ReceivedAt    time.Time `json:"received_at"`
	PhotoAttached *bool     `json:"photo_attached,omitempty" doc:"False when the photo could not be attached."`
}

// idempotency identifies a post and says how long a repetition is recognised.
type idempotency struct {
	key, body string // hashes, hex
	lives     time.Duration
	// key of a post without a key, if the same text came from another network before; "" for a post
	// with a key
	other string
}

const (
	keyLife     = 30 * 24 * time.Hour // of a key from the client
	keylessLife = 10 * time.Minute    // of a post without a key, identified by its content
	maxKey      = 255
	twinLife    = 24 * time.Hour // two similar reports within this time count as possible duplicates
)

// keyOf returns the key of the idempotency record. The hash of the content is keyed (HMAC), so a
// reader of the table cannot test guesses of a report's content. photo is the SHA-256 of a photo
// posted with the form. It replaces the photo's name, which may differ between two posts of the
// same report.
func keyOf(ctx context.Context, env *edge.Env, header string, r report, photo string) (idempotency, error) {
	if len(header) > maxKey {
		return idempotency{}, edge.Errorf(http.StatusBadRequest, "bad_idempotency_key",
			"Idempotency-Key is longer than %d characters.", maxKey)
	}
	secret, err := env.Key(ctx, "submit-report")
	if err != nil {
		return idempotency{}, err
	}
	if photo != "" {
		r.photoURL = ""
	}
	content, err := json.Marshal([]string{r.name, r.phone, r.productName, r.batchNumber, r.expiryDate, r.whereBought,
		r.issueDescription, r.location, r.photoURL})
	if err != nil {
		return idempotency{}, err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(content)
	mac.Write([]byte(photo))
	body := hex.EncodeToString(mac.Sum(nil))
	if header == "" {
		// Without a key, two people may send the same text: it is a repetition only from the same
		// network.
		network, err := env.Network(ctx)
		if err != nil {
			return idempotency{}, err
		}
		mac.Write([]byte("\x00" + network))
		sender := hex.EncodeToString(mac.Sum(nil))
		return idempotency{key: body, body: sender, other: sender, lives: keylessLife}, nil
	}
	key := sha256.Sum256([]byte(header))
	return idempotency{key: hex.EncodeToString(key[:]), body: body, lives: keyLife}, nil
}

// save stores the report once per key and returns the receipt of the first post to every
// repetition. limited means that the report must still be counted against its client.
func save(ctx context.Context, env *edge.Env, r report, key idempotency, limited bool) (receipt, error) {
	for attempt := 1; ; attempt++ {
		saved, err := accept(ctx, env, r, key, limited)
		if err == nil {
			return saved, nil
		}
		// Look for a repetition only now, because few reports are one. A report over the limit may
		// be one too.
		taken := violates(err, "idempotency_keys_pkey")
		if e, ok := edge.AsError(err); taken || ok && e.Status == http.StatusTooManyRequests {
			before := key
			saved, found, rerr := recall(ctx, env, &key)
			if rerr != nil || found {
				return saved, rerr
			}
			if key != before {
				continue
			}
		}
		// Retry: two reports name one photo, the random reference is taken, the possible duplicate
		// has just been deleted, or the key's record had expired.
		if attempt == 4 || !taken &&
			!violates(err, "reports_photo", "reports_reference_key", "reports_possible_duplicate_of_fkey") {
			return receipt{}, err
		}
	}
}

// accept stores the report, its key and its jobs and counts it against its client, in one
// transaction and one round trip. It fails and stores nothing when the key is taken or the limit is
// reached.
func accept(ctx context.Context, env *edge.Env, r report, key idempotency, limited bool) (receipt, error) {
	photo, err := findPhoto(ctx, env, photoRef{r.photoURL, r.photoClaim})
	if err != nil {
		return receipt{}, err
	}
	saved := receipt{ID: uuid.NewString(), Reference: newReference()}
	saved.setLost(photo == "" && r.photoURL != "")
	b := env.Batch(edge.Service)
	if limited {
		limit(ctx, env, b)
	}
	const q = `
with key as (
  insert into private.idempotency_keys (key_hash, body_hash, report_id, reference, photo_kept, expires_at)
  values ($3, $18, $1, $2, case when $19 then $12 <> '' end, now() + $20)
)
insert into public.reports (id, reference, idempotency_key, product_name, batch_number, expiry_date, where_bought,
  issue_description, location, region, district, photo_url, photo_metadata, name, phone, phone_e164, language,
  possible_duplicate_of)
values ($1, $2, $3, $4, nullif($5, ''), nullif($6, '')::date, nullif($7, ''),
  $8, nullif($9, ''), nullif($10, ''), nullif($11, ''), nullif($12, ''), case when $12 <> '' then 'pending'::public.photo_metadata end,
  nullif($13, ''), nullif($14, ''), nullif($15, ''), $16, (
  select t.id
    from public.reports as t
   where lower(btrim(t.product_name)) = lower(btrim($4)) and t.created_at > now() - $17::interval
     and (t.phone_e164 = nullif($15, '') or t.issue_description = $8
          or (t.batch_number = nullif($5, '') and t.location = nullif($9, '')))
   order by t.created_at
   limit 1))
returning created_at`
	b.Queue(q, saved.ID, saved.Reference, key.key, r.productName, r.batchNumber, r.expiryDate, r.whereBought,
		r.issueDescription, r.location, r.place.region, r.place.district, photo, r.name, r.phone, r.phoneE164,
		r.language, twinLife, key.body, r.photoURL != "", key.lives,
	).QueryRow(func(row pgx.Row) error { return row.Scan(&saved.ReceivedAt) })
	if photo != "" {
		b.Enqueue(cleanPhotoJob, photoArgs{photo})
	}
	b.Notify(notice(r, saved, env.Now()))
	if err := b.Send(ctx); err != nil {
		return receipt{}, err
	}
	saved.ReceivedAt = saved.ReceivedAt.UTC()
	return saved, nil
}

// findPhoto returns the name of the stored photo that a report may take, or "". It may differ from
// the name that the uploader gave it. Only the uploader's token leads to it; a photo without a
// token belongs to the network that sent it.
func findPhoto(ctx context.Context, env *edge.Env, photo photoRef) (string, error) {
	if photo.name == "" {
		return "", nil
	}
	network, err := env.Network(ctx)
	if err != nil {
		return "", err
	}
	var name string
	b := env.Batch(edge.Service)
	b.Queue(`select coalesce(private.photo_for($1, $2, $3), '')`, photo.name, photo.hash(), network).
		QueryRow(func(row pgx.Row) error { return row.Scan(&name) })
	err = b.Send(ctx)
	return name, err
}

// recall is replay. If the same text came without a key from another network, it changes the key to
// that of this sender.
func recall(ctx context.Context, env *edge.Env, key *idempotency) (saved receipt, found bool, err error) {
	saved, found, err = replay(ctx, env, *key)
	if found && err != nil && key.other != "" {
		key.key, key.other = key.other, ""
		return replay(ctx, env, *key)
	}
	return saved, found, err
}

// replay returns the receipt of the first post with the key. found is false when the key is
// unknown. replay deletes an expired record first, so that its key is free again. Without a key
// from the client, a record is also that of this sender if it does not say which network sent it:
// one of an earlier version, or of the day before, whose salt is deleted.
func replay(ctx context.Context, env *edge.Env, key idempotency) (saved receipt, found bool, err error) {
	const forget = `delete from private.idempotency_keys where key_hash = $1 and expires_at <= now()`
	const q = `
select report_id::text, reference, created_at, photo_kept is false,
       body_hash = $2 or $3 and (body_hash = key_hash or created_at < date_trunc('day', now(), 'UTC'))
  from private.idempotency_keys where key_hash = $1`
	var lost, same bool
	b := env.Batch(edge.Service)
	b.Limit(ctx, "repetitions", repetitionsPerHour, time.Hour)
	b.Queue(forget, key.key)
	// The first post may be visible here before the synchronous standby has it. A commit that
	// writes WAL waits for all WAL before it, so this reply is as durable as the first one.
	b.Queue(`select pg_logical_emit_message(true, 'daawo', 'repetition')`)
	b.Queue(q, key.key, key.body, key.other != "").QueryRow(func(row pgx.Row) error {
		err := row.Scan(&saved.ID, &saved.Reference, &saved.ReceivedAt, &lost, &same)
		found = err == nil
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := b.Send(ctx); err != nil || !found {
		return receipt{}, false, err
	}
	if !same {
		return receipt{}, true, edge.Errorf(http.StatusUnprocessableEntity, "idempotency_key_reused", "")
	}
	saved.setLost(lost)
	saved.ReceivedAt = saved.ReceivedAt.UTC()
	return saved, true, nil
}

// violates reports whether err violates one of the unique or foreign-key constraints.
func violates(err error, constraints ...string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "23505" || pg.Code == "23503") &&
		slices.Contains(constraints, pg.ConstraintName)
}

// setLost sets PhotoAttached to false when the photo is lost, otherwise to null.
func (r *receipt) setLost(lost bool) {
	r.PhotoAttached = nil
	if lost {
		r.PhotoAttached = new(bool)
	}
}

// newReference returns a reference such as DW-7K3M-9QXA: 40 random bits in Crockford's base 32,
// like private.new_reference() for rows that are inserted by hand.
func newReference() string {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	for i, b := range random {
		random[i] = alphabet[b%32]
	}
	return "DW-" + string(random[:4]) + "-" + string(random[4:])
}

// notice returns the notification for the administrators. It is sent by mail, so it has the
// reference, the region and the time and nothing that the reporter typed.
func notice(r report, saved receipt, received time.Time) edge.Notice {
	region := cmp.Or(r.place.region, "not given or not recognised")
	return edge.Notice{
		Kind:  "report.received",
		Title: "New product report " + saved.Reference,
		Link:  &edge.Row{Table: "reports", Column: "reference", Value: saved.Reference},
		Facts: []edge.Fact{
			{Name: "Reference", Value: saved.Reference},
			{Name: "Region", Value: region},
			{Name: "Received", Value: received.UTC().Format("2006-01-02 15:04 MST")},
		},
	}
}
