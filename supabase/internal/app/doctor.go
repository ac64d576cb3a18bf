package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/backup"
	"daawo/supabase/internal/mail"
	"daawo/supabase/internal/migrate"
	"daawo/supabase/internal/postgres"
)

// Verdict is what the doctor thinks of one thing.
type Verdict string

// The verdicts. Only Bad makes the command fail.
const (
	Good Verdict = "ok"
	Note Verdict = "note"
	Warn Verdict = "warn"
	Bad  Verdict = "BAD"
)

// Finding is one thing that was looked at, and what to do about it.
type Finding struct {
	What    string
	Verdict Verdict
	Says    string
}

// Examine looks at an installation, running or not, and changes nothing.
func (a *App) Examine(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var all []Finding
	say := func(what string, v Verdict, format string, args ...any) {
		all = append(all, Finding{what, v, fmt.Sprintf(format, args...)})
	}
	a.examineConfiguration(say)
	a.examineKeys(ctx, say)
	a.examineFolder(say)
	examineClock(say)
	a.examinePrograms(say)
	a.examineServer(ctx, say)
	a.examineMail(ctx, say)
	a.examineBackups(ctx, say)
	return all
}

type sayer func(what string, v Verdict, format string, args ...any)

func (a *App) examineConfiguration(say sayer) {
	c := a.cfg
	switch err := c.CheckPublic(); {
	case err != nil:
		say("configuration", Bad, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	case c.Loopback():
		say("configuration", Good, "serves this machine only (%s)", c.Host)
	default:
		say("configuration", Good, "serves everybody on %s as %s", c.Host, c.SiteURL)
	}
	if len(c.Unknown) > 0 {
		say("configuration", Note, "config.toml has keys that only the official CLI reads: %s", strings.Join(c.Unknown, ", "))
	}
	if c.Loopback() {
		return
	}
	for _, name := range c.UnsetChannels() {
		say("configuration", Warn, "%s is not set: the site's link leads to nobody", name)
	}
	if !strings.HasPrefix(c.SiteURL, "https://") {
		say("configuration", Warn, "SITE_URL is not https: a report can be read on its way; set TLS_DOMAINS, or put a proxy with TLS in front and name it in TRUSTED_PROXIES")
	}
	if c.Auth.EnableSignup || c.Auth.EnableAnonymousSignIns {
		say("configuration", Warn, "sign-up is open: the site has no accounts, and an open one can be used to send mail to strangers")
	}
}

func (a *App) examineKeys(ctx context.Context, say sayer) {
	set, err := lookForKeys(ctx, a.cfg, a.data)
	switch {
	case errors.Is(err, errNoKeys):
		say("keys", Note, "%v", errNoKeys)
	case err != nil:
		say("keys", Bad, "%v", err)
	case set.IsDemo():
		say("keys", Note, "the official CLI's local ones, which everybody knows: right for this machine only")
	default:
		say("keys", Good, "of this installation alone")
	}
}

// Free space below which the doctor worries. Postgres stops when the disk is full.
const (
	littleSpace  = 1 << 30
	noSpace      = 200 << 20
	folderMayNot = 0o022 // nobody else may write in the data folder
	othersMay    = 0o007 // nor look into that of the photos
)

func (a *App) examineFolder(say sayer) {
	info, err := os.Stat(a.data)
	if errors.Is(err, fs.ErrNotExist) {
		say("data folder", Note, "%s is not there yet; the first start makes it", a.data)
		return
	}
	if err != nil {
		say("data folder", Bad, "%v", err)
		return
	}
	if info.Mode().Perm()&folderMayNot != 0 {
		say("data folder", Bad, "others may write in %s (mode %04o): chmod 755 it", a.data, info.Mode().Perm())
	}
	if photos, err := os.Stat(filepath.Join(a.data, "storage")); err == nil && photos.Mode().Perm()&othersMay != 0 {
		say("data folder", Bad, "everybody on this machine may look at the photos (mode %04o): chmod 750 %s", photos.Mode().Perm(), filepath.Join(a.data, "storage"))
	}
	if err := postgres.CheckTraversable(filepath.Join(a.data, "postgres")); err != nil {
		say("data folder", Bad, "%v", err)
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(a.data, &disk); err != nil {
		say("disk", Warn, "%v", err)
		return
	}
	free := int64(disk.Bavail) * int64(disk.Bsize)
	says := fmt.Sprintf("%.1f GiB are free for %s", float64(free)/(1<<30), a.data)
	switch {
	case free < noSpace:
		say("disk", Bad, "%s: free some, nothing can be written soon", says)
	case free < littleSpace:
		say("disk", Warn, "%s: that is little", says)
	default:
		say("disk", Good, "%s", says)
	}
}

func (a *App) examinePrograms(say sayer) {
	if _, err := fs.Stat(a.options.Site, "index.html"); err != nil {
		say("site", Bad, "it is not built into this program: `make build` does that")
	} else {
		say("site", Good, "is built into this program")
	}
	if a.cfg.DatabaseURL == "" {
		if _, err := a.options.Postgres(); err != nil {
			say("Postgres", Bad, "%v", err)
		}
	}
}

// examineServer asks the running server and its database.
func (a *App) examineServer(ctx context.Context, say sayer) {
	var info Info
	err := Command(ctx, a.data, "/status", &info)
	if errors.Is(err, ErrNotRunning) {
		say("server", Note, "%v; start it to have its database examined, too", err)
		return
	}
	if err != nil {
		say("server", Bad, "%v", err)
		return
	}
	res, err := get(ctx, info.Get("INSIDE_URL")+"/readyz")
	switch {
	case err != nil:
		say("server", Bad, "runs and does not answer: %v", err)
	case res != http.StatusOK:
		say("server", Bad, "runs and is not ready (/readyz answers %d): its log says why", res)
	default:
		say("server", Good, "runs and is ready, %s", info.Get("API_URL"))
	}
	err = withConn(ctx, info.Get("DB_URL"), func(conn *pgx.Conn) error { return a.examineDatabase(ctx, conn, say) })
	if err != nil {
		say("database", Bad, "%v", err)
	}
}

func get(ctx context.Context, target string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

func (a *App) examineDatabase(ctx context.Context, conn *pgx.Conn, say sayer) error {
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := conn.QueryRow(ctx, `select current_setting($1)`, name).Scan(&value); err != nil {
			return err
		}
		if value == "off" {
			say("database", Bad, "%s is off: an acknowledged report can be lost; turn it on", name)
		}
	}
	var version string
	var connections, most int
	var ahead float64 // seconds
	err := conn.QueryRow(ctx, `
		select current_setting('server_version'), (select count(*) from pg_stat_activity where backend_type = 'client backend'),
		       current_setting('max_connections')::int, extract(epoch from clock_timestamp())`).Scan(&version, &connections, &most, &ahead)
	if err != nil {
		return err
	}
	say("database", Good, "Postgres %s keeps what it confirms; %d of %d connections are in use", version, connections, most)
	if off := time.Since(time.UnixMicro(int64(ahead * 1e6))).Abs(); off > 2*time.Second {
		say("clock", Warn, "the database's clock differs from this machine's by %s", off.Round(time.Second))
	}
	pending, err := migrate.Pending(ctx, conn, a.options.Project)
	if err == nil && len(pending) > 0 {
		say("database", Warn, "%d migrations are missing, first %s: restart the server, or run `daawo migrate`", len(pending), pending[0].Name)
	}
	return err
}

func (a *App) examineMail(ctx context.Context, say sayer) {
	smtp := a.cfg.SMTP
	if smtp.Host == "" {
		if a.cfg.Loopback() {
			say("mail", Note, "goes to the development inbox; set SMTP_HOST to send it")
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	server := mail.Server{
		Host: smtp.Host, Port: int(smtp.Port), User: smtp.User, Password: smtp.Pass, From: smtp.AdminEmail, Timeout: 10 * time.Second,
	}
	if err := server.Check(ctx); err != nil {
		say("mail", Bad, "%v", err)
		return
	}
	say("mail", Good, "%s:%d takes it from %s; `daawo notify test` sends one", smtp.Host, smtp.Port, smtp.AdminEmail)
}

func (a *App) examineBackups(ctx context.Context, say sayer) {
	if a.cfg.DatabaseURL != "" {
		say("backup", Note, "the database is given by DATABASE_URL: see that it is backed up where it runs")
		return
	}
	if a.cfg.Backup.To == "" {
		verdict := Note
		if !a.cfg.Loopback() {
			verdict = Warn
		}
		say("backup", verdict, "there is none: set BACKUP_TO to a folder on another disk or to a bucket")
		return
	}
	store, err := backup.OpenStore(a.cfg.Backup.To)
	if err != nil {
		say("backup", Bad, "%v", err)
		return
	}
	all, err := backup.List(ctx, store)
	if err != nil {
		say("backup", Bad, "%v", err)
		return
	}
	var newest time.Time
	if len(all) > 0 {
		newest = all[len(all)-1].End
	}
	if !a.cfg.Loopback() && len(a.cfg.Backup.Recipients) == 0 {
		say("backup", Warn, "whoever gets hold of %s can read every report: make a key with age-keygen and set BACKUP_RECIPIENTS", store)
	}
	age, limit := time.Since(newest).Round(time.Minute), 2*time.Duration(a.cfg.Backup.Every)
	switch {
	case newest.IsZero():
		say("backup", Bad, "%s holds none yet: `daawo backup` makes one", store)
	case age > limit:
		say("backup", Bad, "the newest in %s is %s old: the server's log says why no newer one came", store, age)
	case age < -time.Minute:
		say("backup", Warn, "the newest in %s was made %s from now: a clock was or is wrong; see to this machine's (timedatectl), then a server that runs makes another at once", store, -age)
	default:
		say("backup", Good, "the newest of %d in %s is %s old", len(all), store, age)
	}
}
