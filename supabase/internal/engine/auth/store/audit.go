package store

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// logType returns the group of an action, by which Studio filters the audit log.
func logType(action string) string {
	switch action {
	case "login", "logout", "invite_accepted":
		return "account"
	case "user_signedup", "user_invited", "user_deleted":
		return "team"
	case "token_revoked", "token_refreshed":
		return "token"
	case "factor_in_progress", "factor_unenrolled", "challenge_created", "verification_attempted", "factor_deleted",
		"factor_updated":
		return "factor"
	}
	return "user"
}

// insertAudit writes a line of the audit log: its id, the payload, the time; none for a decoy.
const insertAudit = `
	insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
	select '00000000-0000-0000-0000-000000000000', $1, $2, $3, '' where not $4`

// Audit writes an action into the audit log, in the same transaction.
func (s *Store) Audit(ctx context.Context, tx pgx.Tx, actor *User, action string, traits map[string]any) error {
	args, err := s.audit(ctx, actor, action, traits)
	if err != nil || args == nil {
		return err
	}
	_, err = tx.Exec(ctx, insertAudit, args...)
	return err
}

// QueueAudit adds to b the statement that writes an action into the audit log.
func (s *Store) QueueAudit(ctx context.Context, b *pgx.Batch, actor *User, action string, traits map[string]any) error {
	args, err := s.audit(ctx, actor, action, traits)
	if err != nil || args == nil {
		return err
	}
	b.Queue(insertAudit, args...)
	return nil
}

// audit returns the arguments of insertAudit. Without a table for the log it writes the action into
// the process log and returns none.
func (s *Store) audit(ctx context.Context, actor *User, action string, traits map[string]any) ([]any, error) {
	name := actor.Email
	if actor.Phone != "" {
		name = actor.Phone
	}
	payload := map[string]any{
		"actor_id": actor.ID, "actor_via_sso": actor.IsSSO, "actor_username": name,
		"action": action, "log_type": logType(action),
	}
	if full, ok := actor.UserMetadata["full_name"]; ok {
		payload["actor_name"] = full
	}
	if traits != nil {
		payload["traits"] = traits
	}
	if s.Config.NoAuditTable {
		if !actor.Decoy {
			s.Log.InfoContext(ctx, "audit", "action", action, "actor_id", actor.ID)
		}
		return nil, nil
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	return []any{uuid.New(), text, s.Now(), actor.Decoy}, nil
}
