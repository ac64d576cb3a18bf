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
	case "factor_in_progress", "factor_unenrolled", "challenge_created", "verification_attempted", "factor_deleted", "factor_updated":
		return "factor"
	}
	return "user"
}

// Audit writes an action into the audit log, in the same transaction.
func (s *Store) Audit(ctx context.Context, tx pgx.Tx, actor *User, action string, traits map[string]any) error {
	b := &pgx.Batch{}
	if err := s.QueueAudit(ctx, b, actor, action, traits); err != nil || b.Len() == 0 {
		return err
	}
	return tx.SendBatch(ctx, b).Close()
}

// QueueAudit adds to b the statement that writes an action into the audit log. Without a table for the log it writes the
// action into the process log.
func (s *Store) QueueAudit(ctx context.Context, b *pgx.Batch, actor *User, action string, traits map[string]any) error {
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
	if s.config.NoAuditTable {
		s.log.InfoContext(ctx, "audit", "action", action, "actor_id", actor.ID)
		return nil
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	b.Queue(`
		insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
		values ('00000000-0000-0000-0000-000000000000', $1, $2, $3, '')`, uuid.New(), text, s.now())
	return nil
}
