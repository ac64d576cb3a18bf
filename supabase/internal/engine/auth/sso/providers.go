package sso

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/crewjam/saml"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// description is what an administrator says about a provider.
type description struct {
	Type         string   `json:"type"`
	MetadataURL  string   `json:"metadata_url"`
	MetadataXML  string   `json:"metadata_xml"`
	Domains      []string `json:"domains"`
	Mapping      mapping  `json:"attribute_mapping"`
	NameIDFormat string   `json:"name_id_format"`
	ResourceID   *string  `json:"resource_id"`
	Disabled     *bool    `json:"disabled"`
}

// nameIDFormats are the formats that a provider may be asked for.
var nameIDFormats = []string{
	string(saml.PersistentNameIDFormat), string(saml.EmailAddressNameIDFormat), string(saml.TransientNameIDFormat),
	string(saml.UnspecifiedNameIDFormat),
}

func (d *description) check(update bool) error {
	switch {
	case !update && d.Type != "saml":
		return invalid("Only 'saml' supported for SSO provider type")
	case d.MetadataURL != "" && d.MetadataXML != "":
		return invalid("Only one of metadata_xml or metadata_url needs to be set")
	case !update && d.MetadataURL == "" && d.MetadataXML == "":
		return invalid("Either metadata_xml or metadata_url must be set")
	case d.MetadataURL != "":
		if err := checkMetadataURL(d.MetadataURL); err != nil {
			return err
		}
	}
	for _, format := range append(nameIDFormats, "") {
		if d.NameIDFormat == format {
			return nil
		}
	}
	return invalid("name_id_format must be unspecified or one of %v", strings.Join(nameIDFormats, ", "))
}

// read decodes and checks the body of a request. It fetches the metadata, if they are a URL.
func (s *Service) read(r *http.Request, update bool) (*description, *saml.EntityDescriptor, error) {
	d := &description{}
	if err := endpoint.ReadJSON(r, d); err != nil {
		return nil, nil, err
	}
	if err := d.check(update); err != nil {
		return nil, nil, err
	}
	if d.MetadataURL != "" {
		var err error
		if d.MetadataXML, err = s.fetchDescription(r.Context(), d.MetadataURL); err != nil {
			return nil, nil, err
		}
	}
	if d.MetadataXML == "" {
		return d, nil, nil
	}
	entity, err := parseDescription(d.MetadataXML)
	return d, entity, err
}

// List serves GET /admin/sso/providers, oldest first, without the metadata. resource_id and
// resource_id_prefix select providers.
func (s *Service) List(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	q := r.URL.Query()
	found, err := findProviders(r.Context(), s.DB.Pgx(), `
		where case when $1 <> '' then p.resource_id = $1 when $2 <> '' then starts_with(p.resource_id, $2) else true end
		order by p.created_at, p.id`, q.Get("resource_id"), q.Get("resource_id_prefix"))
	if err != nil {
		return err
	}
	items := []*provider{}
	for _, p := range found {
		p.SAML.MetadataXML = ""
		items = append(items, p)
	}
	return endpoint.SendJSON(w, http.StatusOK, map[string]any{"items": items})
}

// Create serves POST /admin/sso/providers.
func (s *Service) Create(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	d, entity, err := s.read(r, false)
	if err != nil {
		return err
	}
	now := s.Now().Truncate(time.Microsecond)
	p := &provider{ID: uuid.New(), CreatedAt: now, UpdatedAt: now, ResourceID: d.ResourceID, Disabled: d.Disabled,
		SAML: samlProvider{ID: uuid.New(), EntityID: entity.EntityID, MetadataXML: d.MetadataXML, Mapping: d.Mapping,
			MetadataURL: textOrNil(d.MetadataURL), NameIDFormat: textOrNil(d.NameIDFormat), UpdatedAt: now}}
	exists := apierror.Errorf(http.StatusUnprocessableEntity, "saml_idp_already_exists",
		"SAML Identity Provider with this EntityID (%s) already exists", p.SAML.EntityID)
	_, err = store.InTx(r.Context(), s.DB, func(tx pgx.Tx) (any, error) {
		if _, err := findProvider(r.Context(), tx, `where s.entity_id = $1`, p.SAML.EntityID); err == nil {
			return nil, exists
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err := p.setDomains(r.Context(), tx, d.Domains,
			"SSO Domain '%s' is already assigned to an SSO identity provider (%s)"); err != nil {
			return nil, err
		}
		return nil, p.save(r.Context(), tx)
	})
	if err != nil {
		return conflict(err, exists)
	}
	return endpoint.SendJSON(w, http.StatusCreated, p)
}

func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// conflict returns the reply to a unique index that another request filled first.
func conflict(err error, exists *apierror.Error) error {
	pg, ok := pool.AsPgError(err)
	switch {
	case !ok || pg.Code != "23505":
		return err
	case pg.ConstraintName == "saml_providers_entity_id_key":
		return exists.WithCause(err)
	case pg.ConstraintName == "sso_domains_domain_idx":
		return apierror.Errorf(http.StatusBadRequest, "sso_domain_already_exists",
			"SSO domain is already assigned to an SSO identity provider").WithCause(err)
	}
	return apierror.Errorf(http.StatusUnprocessableEntity, "conflict",
		"Updating SSO provider failed, likely due to a conflict. Try again?").WithCause(err)
}

// setDomains replaces the domains. taken is the message about a domain of another provider.
func (p *provider) setDomains(ctx context.Context, tx pgx.Tx, names []string, taken string) error {
	p.Domains = []domain{}
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			return invalid("SSO domain must not be empty")
		}
		other, err := findProvider(ctx, tx, ofDomain, name)
		switch {
		case err == nil && other.ID != p.ID:
			return apierror.Errorf(http.StatusBadRequest, "sso_domain_already_exists", taken, name, other.ID)
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
		p.Domains = append(p.Domains, domain{name})
	}
	return nil
}

// ofDomain selects the provider of a domain.
const ofDomain = `where p.id = (select sso_provider_id from auth.sso_domains where lower(domain) = lower($1))`

var errNoProvider = apierror.Errorf(http.StatusNotFound, "sso_provider_not_found", "SSO Identity Provider not found")

// named returns the provider that the URL of an administrator names by its id or, after
// "resource_", by its resource id. lock is "" or the lock on the rows.
func named(r *http.Request, q store.Queries, lock string) (*provider, error) {
	name := chi.URLParam(r, "idp_id")
	var p *provider
	var err error
	if resource, ok := strings.CutPrefix(name, "resource_"); ok {
		p, err = findProvider(r.Context(), q, `where p.resource_id = $1 `+lock, resource)
	} else if id, perr := uuid.Parse(name); perr == nil {
		p, err = findProvider(r.Context(), q, `where p.id = $1 `+lock, id)
	} else {
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		err = errNoProvider
	}
	return p, err
}

// Get serves GET /admin/sso/providers/{idp_id}.
func (s *Service) Get(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	p, err := named(r, s.DB.Pgx(), "")
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, p)
}

// Update serves PUT /admin/sso/providers/{idp_id}. Members that the body leaves out stay, except
// name_id_format, as in GoTrue.
func (s *Service) Update(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	if _, err := named(r, s.DB.Pgx(), ""); err != nil { // before metadata are fetched
		return err
	}
	d, entity, err := s.read(r, true)
	if err != nil {
		return err
	}
	p, err := store.InTx(r.Context(), s.DB, func(tx pgx.Tx) (*provider, error) {
		p, err := named(r, tx, "for update of p, s")
		if err != nil {
			return nil, err
		}
		before := *p
		if err := s.change(r.Context(), tx, p, d, entity); err != nil || reflect.DeepEqual(before, *p) {
			return p, err
		}
		p.UpdatedAt = s.Now().Truncate(time.Microsecond)
		return p, p.save(r.Context(), tx)
	})
	if err != nil {
		return conflict(err, errNoProvider)
	}
	return endpoint.SendJSON(w, http.StatusOK, p)
}

// change applies a description to a provider.
func (s *Service) change(ctx context.Context, tx pgx.Tx, p *provider, d *description,
	entity *saml.EntityDescriptor) error {
	if entity != nil {
		if entity.EntityID != p.SAML.EntityID {
			return apierror.Errorf(http.StatusBadRequest, "saml_entity_id_mismatch",
				"SAML Metadata can be updated only if the EntityID matches for the provider; expected '%s' but got '%s'",
				p.SAML.EntityID, entity.EntityID)
		}
		p.SAML.MetadataXML, p.SAML.UpdatedAt = d.MetadataXML, s.Now().Truncate(time.Microsecond)
		if d.MetadataURL != "" {
			p.SAML.MetadataURL = &d.MetadataURL
		}
	}
	if d.Domains != nil {
		if err := p.setDomains(ctx, tx, d.Domains,
			"SSO domain '%s' already assigned to another provider (%s)"); err != nil {
			return err
		}
	}
	if d.Mapping.Keys != nil {
		p.SAML.Mapping = d.Mapping
	}
	p.SAML.NameIDFormat = textOrNil(d.NameIDFormat)
	if d.ResourceID != nil {
		p.ResourceID = textOrNil(*d.ResourceID)
	}
	if d.Disabled != nil {
		p.Disabled = d.Disabled
	}
	return nil
}

// Delete serves DELETE /admin/sso/providers/{idp_id}. The accounts of its users stay.
func (s *Service) Delete(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	p, err := store.InTx(r.Context(), s.DB, func(tx pgx.Tx) (*provider, error) {
		p, err := named(r, tx, "for update of p")
		if err != nil {
			return nil, err
		}
		_, err = tx.Exec(r.Context(), `delete from auth.sso_providers where id = $1`, p.ID)
		return p, err
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, p)
}
