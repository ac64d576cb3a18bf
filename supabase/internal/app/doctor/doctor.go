// Package doctor examines an installation and says what the operator can do about its faults.
package doctor

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

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// Verdict rates a Finding.
type Verdict string

// The verdicts. Only Bad makes the command fail.
const (
	Good Verdict = "ok"
	Note Verdict = "note"
	Warn Verdict = "warn"
	Bad  Verdict = "BAD"
)

// Finding is the result of one check and what to do about it.
type Finding struct {
	What    string
	Verdict Verdict
	Says    string // state and fix, in English
	// Code and Args are Says for programs that have it in other languages: a name, such as
	// "disk.low", and the values of the verbs.
	Code string
	Args []string
}

// Examine checks an installation, running or not, and changes nothing.
func Examine(ctx context.Context, o installation.Options) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c := &checker{Options: o}
	c.configuration()
	c.apiKeys(ctx)
	c.folder()
	c.clock()
	c.programs()
	c.container()
	c.server(ctx)
	c.mailServer(ctx)
	c.backups(ctx)
	return c.findings
}

// checker runs the checks of Examine.
type checker struct {
	installation.Options
	findings []Finding
}

// say adds a finding. Its code is what and detail. A format has no other verbs than %s, %d and %v,
// because Args has each value in its default format.
func (c *checker) say(what string, v Verdict, detail, format string, args ...any) {
	f := Finding{What: what, Verdict: v, Says: fmt.Sprintf(format, args...), Args: make([]string, len(args)),
		Code: strings.ToLower(strings.ReplaceAll(what, " ", "-")) + "." + detail}
	for i, arg := range args {
		f.Args[i] = fmt.Sprint(arg)
	}
	c.findings = append(c.findings, f)
}

func (c *checker) configuration() {
	cfg := c.Config
	switch err := cfg.CheckPublic(); {
	case err != nil:
		c.say("configuration", Bad, "refused", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	case cfg.Loopback():
		c.say("configuration", Good, "local", "serves this machine only (%s)", cfg.Host)
	default:
		c.say("configuration", Good, "public", "serves the network on %s as %s", cfg.Host, cfg.SiteURL)
	}
	for _, warning := range cfg.Warnings {
		c.say("configuration", Warn, "warning", "config.toml: %s", warning)
	}
	if len(cfg.Ignored) > 0 {
		c.say("configuration", Note, "ignored", "config.toml has keys without effect here: %s",
			strings.Join(cfg.Ignored, ", "))
	}
	if cfg.Loopback() {
		return
	}
	for _, v := range cfg.PageValues {
		switch {
		case !v.Set && v.Value == "":
			c.say("configuration", Note, "omitted", "%s is not set: the pages leave it out", v.Variable)
		case !v.Set:
			c.say("configuration", Warn, "placeholder", "%s is not set: the pages show the placeholder %s",
				v.Variable, v.Value)
		}
	}
	if !strings.HasPrefix(cfg.SiteURL, "https://") {
		c.say("configuration", Warn, "insecure",
			"SITE_URL is not https, so requests can be read on the network; set TLS_DOMAINS, or put a proxy with "+
				"TLS in front and name it in TRUSTED_PROXIES")
	}
	if cfg.Auth.EnableSignup || cfg.Auth.EnableAnonymousSignIns {
		c.say("configuration", Warn, "signup",
			"sign-up is open: anyone can create accounts and make this server send mail to any address")
	}
}

func (c *checker) apiKeys(ctx context.Context) {
	set, err := keyring.LoadExisting(ctx, c.Config, c.Data)
	switch {
	case errors.Is(err, keyring.ErrNone):
		c.say("keys", Note, "none", "none yet; the first start generates them")
	case err != nil:
		c.say("keys", Bad, "error", "%v", err)
	case set.IsDemo():
		c.say("keys", Note, "demo", "the well-known local keys of the official CLI: safe on this machine only")
	default:
		c.say("keys", Good, "own", "unique to this installation")
	}
}

const (
	lowSpace     = 1 << 30   // bytes; below this the doctor warns
	minSpace     = 200 << 20 // bytes; Postgres stops when the disk is full
	othersWrite  = 0o022     // permission bits that the data folder must not have
	othersAccess = 0o007     // permission bits that the folder of stored files must not have
)

func (c *checker) folder() {
	info, err := os.Stat(c.Data)
	if errors.Is(err, fs.ErrNotExist) {
		c.say("data folder", Note, "missing", "%s does not exist yet; the first start creates it", c.Data)
		return
	}
	if err != nil {
		c.say("data folder", Bad, "error", "%v", err)
		return
	}
	if info.Mode().Perm()&othersWrite != 0 {
		c.say("data folder", Bad, "writable", "other users may write to %s (mode %s): chmod 755 it", c.Data,
			octal(info))
	}
	if stored, err := os.Stat(filepath.Join(c.Data, "storage")); err == nil && stored.Mode().Perm()&othersAccess != 0 {
		c.say("data folder", Bad, "readable", "every user of this machine can read the stored files (mode %s): "+
			"chmod 750 %s", octal(stored), filepath.Join(c.Data, "storage"))
	}
	if err := server.CheckTraversable(datadir.Postgres(c.Data)); err != nil {
		c.say("data folder", Bad, "unreachable", "%v", err)
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(c.Data, &disk); err != nil {
		c.say("disk", Warn, "error", "%v", err)
		return
	}
	free := int64(disk.Bavail) * int64(disk.Bsize)
	space := fmt.Sprintf("%.1f", float64(free)/(1<<30))
	switch {
	case free < minSpace:
		c.say("disk", Bad, "full", "%s GiB are free for %s: free some space before writes fail", space, c.Data)
	case free < lowSpace:
		c.say("disk", Warn, "low", "%s GiB are free for %s: free some space soon", space, c.Data)
	default:
		c.say("disk", Good, "free", "%s GiB are free for %s", space, c.Data)
	}
}

// octal returns the permission bits of a file.
func octal(info fs.FileInfo) string { return fmt.Sprintf("%04o", info.Mode().Perm()) }

func (c *checker) programs() {
	if c.Site != nil {
		if _, err := fs.Stat(c.Site, "index.html"); err != nil {
			c.say("site", Bad, "missing", "has no index.html: build the program with its site")
		} else {
			c.say("site", Good, "built", "is built into this program")
		}
	}
	if c.Config.DatabaseURL == "" {
		c.postgres()
	}
}

// postgres checks the Postgres that this program starts.
func (c *checker) postgres() {
	source, err := c.PostgresSource()
	if err != nil {
		c.say("Postgres", Bad, "error", "%v", err)
		return
	}
	if home, ok := source.(*server.Home); ok {
		c.say("Postgres", Good, "home", "%s", home)
		return
	}
	version, _, _ := strings.Cut(server.Version, "-")
	c.say("Postgres", Note, "embedded", "the embedded %s, without the fixes of later minors, and with OpenSSL "+
		"1.1.1 and ICU 60, which get none; TLS never passes through this OpenSSL. POSTGRES_HOME or --database-url "+
		"run a newer one", version)
	if names, err := server.AddedExtensions(c.Data); err != nil {
		c.say("extensions", Bad, "error", "%v", err)
	} else if len(names) > 0 {
		c.say("extensions", Good, "added", "were added: %s", strings.Join(names, ", "))
	}
}

// server checks the running server and its database.
func (c *checker) server(ctx context.Context) {
	var info installation.Info
	err := control.Command(ctx, c.Data, "/status", &info)
	if errors.Is(err, datadir.ErrNotRunning) {
		c.say("server", Note, "stopped", "is not running; start it to check its database as well")
		return
	}
	if err != nil {
		c.say("server", Bad, "error", "%v", err)
		return
	}
	res, err := get(ctx, info.Get("INSIDE_URL")+"/readyz")
	switch {
	case err != nil:
		c.say("server", Bad, "silent", "is running but does not reply: %v", err)
	case res != http.StatusOK:
		c.say("server", Bad, "unready", "is running but not ready (/readyz replies %d): its log says why", res)
	default:
		c.say("server", Good, "ready", "is running and ready, %s", info.Get("API_URL"))
	}
	if len(info.Lacks) > 0 { // the server says so, because another process has another cgroup
		c.say("deployed functions", Note, "lacking", "run with more rights than they could; this system lacks %s",
			strings.Join(info.Lacks, "; "))
	} else {
		c.say("deployed functions", Good, "limited", "have a user, files, system calls and limits of their own")
	}
	if info.ForeignFiles != "" {
		c.say("files", Bad, "foreign", "%s is the mark of another database, or of a newer state of this one, so the "+
			"content of deleted files stays: start with the database that the files belong to; or, if this one "+
			"replaces it, empty the mark", info.ForeignFiles)
	}
	c.certificates(ctx)
	err = pool.WithConn(ctx, info.Get("DB_URL"), func(conn *pgx.Conn) error { return c.database(ctx, conn) })
	if err != nil {
		c.say("database", Bad, "error", "%v", err)
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

func (c *checker) mailServer(ctx context.Context) {
	smtp := c.Config.SMTP
	if smtp.Host == "" {
		switch {
		case c.Config.Loopback() && c.Config.Inbox.Enabled:
			c.say("mail", Note, "inbox", "goes to the development inbox; set SMTP_HOST to send it")
		case c.Config.Loopback():
			c.say("mail", Warn, "off-local", "is not sent: set SMTP_HOST, or local_smtp.enabled for the "+
				"development inbox")
		default:
			c.say("mail", Bad, "off", "is not sent: set SMTP_HOST")
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	server := c.MailServer()
	server.Timeout = 10 * time.Second
	authenticated, err := server.Check(ctx)
	if err != nil {
		c.say("mail", Bad, "error", "%v: check SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASS, and that this "+
			"machine may reach the server", err)
		return
	}
	if smtp.User != "" && !authenticated {
		c.say("mail", Warn, "unauthenticated", "%s:%d offers no authentication, so mail is sent without; remove "+
			"SMTP_USER if that is right", smtp.Host, smtp.Port)
		return
	}
	c.say("mail", Good, "accepted", "%s:%d accepts mail from %s; `daawo notify test` sends one", smtp.Host, smtp.Port,
		smtp.AdminEmail)
}

func (c *checker) backups(ctx context.Context) {
	if c.Config.DatabaseURL != "" {
		c.say("backup", Note, "elsewhere", "DATABASE_URL names another server's database: back it up where it runs")
		return
	}
	if c.Config.Backup.To == "" {
		verdict := Note
		if !c.Config.Loopback() {
			verdict = Warn
		}
		c.say("backup", verdict, "off", "is off: set BACKUP_TO to a folder on another disk or to a bucket")
		return
	}
	store, err := physical.OpenStore(c.Config.Backup.To)
	if err != nil {
		c.say("backup", Bad, "error", "%v", err)
		return
	}
	all, err := physical.List(ctx, store)
	if err != nil {
		c.say("backup", Bad, "error", "%v", err)
		return
	}
	if err := physical.CheckWriter(ctx, store, datadir.Backup(c.Data)); err != nil {
		c.say("backup", Bad, "taken", "%v: set BACKUP_TO to an empty place; if the other one is gone, this one takes "+
			"the place over within two minutes of its start", err)
		return
	}
	var newest time.Time
	if len(all) > 0 {
		newest = all[len(all)-1].End
	}
	if !c.Config.Loopback() && len(c.Config.Backup.Recipients) == 0 {
		c.say("backup", Warn, "unencrypted", "%s is not encrypted: create a key with age-keygen and set "+
			"BACKUP_RECIPIENTS", store)
	}
	age, limit := time.Since(newest).Round(time.Minute), physical.MaxAge(time.Duration(c.Config.Backup.Every))
	switch {
	case newest.IsZero():
		c.say("backup", Bad, "none", "%s contains no good backup, so everything can be lost: `daawo backup` makes "+
			"one; the log of the server says why it made none", store)
	case age > limit:
		c.say("backup", Bad, "old", "the newest backup in %s is %s old: the log of the server says why there is no "+
			"newer one", store, age)
	case age < -time.Minute:
		c.say("backup", Warn, "future", "the time of the newest backup in %s is %s in the future, because a clock "+
			"is or was wrong: check the clock of this machine (timedatectl); then a running server makes another "+
			"backup at once", store, -age)
	default:
		c.say("backup", Good, "newest", "the newest of %d backups in %s is %s old", len(all), store, age)
	}
}
