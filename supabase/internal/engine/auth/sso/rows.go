package sso

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/engine/auth/store"
)

// provider is a row of auth.sso_providers with its rows of auth.saml_providers and
// auth.sso_domains, as administrators see it.
type provider struct {
	ID         uuid.UUID    `json:"id"`
	ResourceID *string      `json:"resource_id,omitempty"`
	Disabled   *bool        `json:"disabled"`
	SAML       samlProvider `json:"saml"`
	Domains    []domain     `json:"domains"`
	CreatedAt  time.Time    `json:"created_at"`
	UpdatedAt  time.Time    `json:"updated_at"`
}

type samlProvider struct {
	ID           uuid.UUID `json:"-"`
	EntityID     string    `json:"entity_id"`
	MetadataXML  string    `json:"metadata_xml,omitempty"`
	MetadataURL  *string   `json:"metadata_url,omitempty"`
	Mapping      mapping   `json:"attribute_mapping"`
	NameIDFormat *string   `json:"name_id_format,omitempty"`
	UpdatedAt    time.Time `json:"-"`
}

type domain struct {
	Domain string `json:"domain"`
}

// enabled reports whether users may sign in with the provider.
func (p *provider) enabled() bool { return p.Disabled == nil || !*p.Disabled }

const selectProvider = `
	select p.id, p.resource_id, p.disabled, coalesce(p.created_at, 'epoch'), coalesce(p.updated_at, 'epoch'),
	       s.id, s.entity_id, s.metadata_xml, s.metadata_url, coalesce(s.attribute_mapping, '{}'), s.name_id_format,
	       coalesce(s.updated_at, 'epoch'),
	       array(select d.domain from auth.sso_domains d where d.sso_provider_id = p.id order by d.created_at, d.domain)
	  from auth.sso_providers p join auth.saml_providers s on s.sso_provider_id = p.id `

// findProviders returns the providers that rest (a condition, an order, a lock) selects.
func findProviders(ctx context.Context, q store.Queries, rest string, args ...any) ([]*provider, error) {
	rows, err := q.Query(ctx, selectProvider+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*provider, error) {
		p := &provider{Domains: []domain{}}
		var names []string
		err := row.Scan(&p.ID, &p.ResourceID, &p.Disabled, &p.CreatedAt, &p.UpdatedAt, &p.SAML.ID, &p.SAML.EntityID,
			&p.SAML.MetadataXML, &p.SAML.MetadataURL, &p.SAML.Mapping, &p.SAML.NameIDFormat, &p.SAML.UpdatedAt, &names)
		for _, name := range names {
			p.Domains = append(p.Domains, domain{name})
		}
		p.CreatedAt, p.UpdatedAt = p.CreatedAt.UTC(), p.UpdatedAt.UTC()
		return p, err
	})
}

// findProvider returns the provider that rest selects, or store.ErrNotFound.
func findProvider(ctx context.Context, q store.Queries, rest string, args ...any) (*provider, error) {
	found, err := findProviders(ctx, q, rest, args...)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// save inserts a provider or updates it. Its domains are replaced.
func (p *provider) save(ctx context.Context, tx pgx.Tx) error {
	attributes, err := json.Marshal(p.SAML.Mapping)
	if err != nil {
		return err
	}
	names := []string{}
	for _, d := range p.Domains {
		names = append(names, d.Domain)
	}
	b := &pgx.Batch{}
	b.Queue(`
		insert into auth.sso_providers (id, resource_id, disabled, created_at, updated_at) values ($1, $2, $3, $4, $5)
		on conflict (id) do update set resource_id = excluded.resource_id, disabled = excluded.disabled,
		  updated_at = excluded.updated_at`, p.ID, p.ResourceID, p.Disabled, p.CreatedAt, p.UpdatedAt)
	b.Queue(`
		insert into auth.saml_providers (id, sso_provider_id, entity_id, metadata_xml, metadata_url, attribute_mapping,
		                                 name_id_format, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		on conflict (id) do update set metadata_xml = excluded.metadata_xml, metadata_url = excluded.metadata_url,
		  attribute_mapping = excluded.attribute_mapping, name_id_format = excluded.name_id_format,
		  updated_at = excluded.updated_at`,
		p.SAML.ID, p.ID, p.SAML.EntityID, p.SAML.MetadataXML, p.SAML.MetadataURL, string(attributes),
		p.SAML.NameIDFormat, p.CreatedAt, p.SAML.UpdatedAt)
	b.Queue(`delete from auth.sso_domains where sso_provider_id = $1 and domain <> all($2)`, p.ID, names)
	b.Queue(`
		insert into auth.sso_domains (id, sso_provider_id, domain, created_at, updated_at)
		select gen_random_uuid(), $1, name, $3, $3 from unnest($2::text[]) name
		 where not exists (select from auth.sso_domains d where d.sso_provider_id = $1 and d.domain = name)`,
		p.ID, names, p.UpdatedAt)
	return tx.SendBatch(ctx, b).Close()
}

// relayState is a row of auth.saml_relay_states: a request to a provider.
type relayState struct {
	Provider   uuid.UUID
	RequestID  string
	RedirectTo string
	CreatedAt  time.Time
	Flow       *uuid.UUID
}

// insertRelayState stores a request and returns the id under which its response comes.
func insertRelayState(ctx context.Context, tx pgx.Tx, r relayState) (uuid.UUID, error) {
	id := uuid.New()
	_, err := tx.Exec(ctx, `
		insert into auth.saml_relay_states (id, sso_provider_id, request_id, redirect_to, created_at, updated_at,
		                                    flow_state_id)
		values ($1, $2, $3, $4, $5, $5, $6)`, id, r.Provider, r.RequestID, r.RedirectTo, r.CreatedAt, r.Flow)
	return id, err
}

// takeRelayState deletes a request and returns it, or store.ErrNotFound. So each one has at most
// one response.
func takeRelayState(ctx context.Context, q store.Queries, id uuid.UUID) (*relayState, error) {
	rows, err := q.Query(ctx, `
		delete from auth.saml_relay_states where id = $1 and `+store.UnusedRelayState+`
		returning sso_provider_id, request_id, coalesce(redirect_to, ''), coalesce(created_at, 'epoch'), flow_state_id`,
		id)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[relayState])
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
