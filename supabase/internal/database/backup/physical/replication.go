package physical

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// baseInfo is what the server reports about a base backup.
type baseInfo struct {
	StartLSN string `json:"start_lsn"`
	StopLSN  string `json:"stop_lsn"`
	Timeline string `json:"timeline"`
}

// baseBackup copies the cluster of the server at url and writes it to w as one
// tar. Its folder pg_wal holds the WAL that makes the copy consistent. The
// server checks every page checksum. It does not wait for the WAL archive, which
// the backup does not need. manifest is Postgres' list of files and checksums.
//
// The protocol is BASE_BACKUP since Postgres 15: a result with the start, a
// result with the tablespaces, one COPY with several kinds of messages, and a
// result with the end.
func baseBackup(ctx context.Context, url, label string, w io.Writer, progress func(done, total int64)) (info baseInfo,
	manifest []byte, err error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return info, nil, err
	}
	config.RuntimeParams["replication"] = "true"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return info, nil, fmt.Errorf("replication connection: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))

	sql := fmt.Sprintf(`BASE_BACKUP (LABEL '%s', PROGRESS true, CHECKPOINT 'fast', WAL true, WAIT false, `+
		`MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')`,
		strings.ReplaceAll(label, "'", "''"))
	conn.Frontend().Send(&pgproto3.Query{String: sql})
	if err := conn.Frontend().Flush(); err != nil {
		return info, nil, err
	}
	s := &baseStream{w: w, progress: progress}
	for {
		msg, err := conn.ReceiveMessage(ctx)
		if err != nil {
			return info, nil, fmt.Errorf("base backup: %w", err)
		}
		switch msg := msg.(type) {
		case *pgproto3.DataRow:
			s.row(msg)
		case *pgproto3.CommandComplete, *pgproto3.CopyDone:
			s.results++
		case *pgproto3.CopyData:
			if err := s.data(msg.Data); err != nil {
				return info, nil, fmt.Errorf("base backup: %w", err)
			}
		case *pgproto3.ErrorResponse:
			return info, nil, fmt.Errorf("base backup: %w", pgconn.ErrorResponseToPgError(msg))
		case *pgproto3.ReadyForQuery:
			if s.info.StartLSN == "" || s.info.StopLSN == "" || s.archives != 1 {
				return info, nil, errors.New("base backup: the server ended the stream early")
			}
			return s.info, s.manifest, nil
		}
	}
}

// baseStream parses the reply to BASE_BACKUP.
type baseStream struct {
	w        io.Writer
	progress func(done, total int64)

	info       baseInfo
	results    int
	archives   int
	inManifest bool
	manifest   []byte
	total      int64 // bytes, estimated by the server
}

func (s *baseStream) row(msg *pgproto3.DataRow) {
	text := func(i int) string {
		if i < len(msg.Values) {
			return string(msg.Values[i])
		}
		return ""
	}
	switch {
	case s.info.StartLSN == "":
		s.info.StartLSN, s.info.Timeline = text(0), text(1)
	case s.archives > 0:
		s.info.StopLSN = text(0)
	default: // a tablespace: oid, location, size in kB
		var kb int64
		fmt.Sscan(text(2), &kb)
		s.total += kb << 10
	}
}

func (s *baseStream) data(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	switch kind, b := b[0], b[1:]; kind {
	case 'n': // a new archive: name and tablespace
		if s.archives++; s.archives > 1 {
			return errors.New("tablespaces outside of the data folder cannot be backed up: move their tables to " +
				"pg_default")
		}
	case 'm':
		s.inManifest = true
	case 'd':
		if s.inManifest {
			s.manifest = append(s.manifest, b...)
			return nil
		}
		_, err := s.w.Write(b)
		return err
	case 'p':
		if len(b) == 8 && s.progress != nil {
			done := int64(binary.BigEndian.Uint64(b))
			s.progress(done, max(s.total, done))
		}
	}
	return nil
}
