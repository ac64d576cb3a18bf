/**
 * The checks of the system page: what doctor of the server says, by the code of a finding. {0} is its
 * first value. A finding without a text here is shown in the server's English.
 */
export const text = {
  verdicts: { ok: 'ok', note: 'note', warn: 'warn', BAD: 'BAD' },
  names: {
    backup: 'backup',
    certificate: 'certificate',
    clients: 'clients',
    clock: 'clock',
    configuration: 'configuration',
    'data folder': 'data folder',
    database: 'database',
    'deployed functions': 'deployed functions',
    disk: 'disk',
    extensions: 'extensions',
    files: 'files',
    indexes: 'indexes',
    keys: 'keys',
    mail: 'mail',
    NATS: 'NATS',
    Postgres: 'Postgres',
    realtime: 'realtime',
    server: 'server',
    site: 'site',
  },
  says: {
    'backup.elsewhere': "DATABASE_URL names another server's database: back it up where it runs",
    'backup.future':
      'the time of the newest backup in {0} is {1} in the future, because a clock is or was wrong: check the clock of this machine (timedatectl); then a running server makes another backup at once',
    'backup.newest': 'the newest of {0} backups in {1} is {2} old',
    'backup.none':
      '{0} contains no good backup, so everything can be lost: `daawo backup` makes one; the log of the server says why it made none',
    'backup.off': 'is off: set BACKUP_TO to a folder on another disk or to a bucket',
    'backup.old': 'the newest backup in {0} is {1} old: the log of the server says why there is no newer one',
    'backup.taken':
      '{0}: set BACKUP_TO to an empty place; if the other one is gone, this one takes the place over within two minutes of its start',
    'backup.unencrypted': '{0} is not encrypted: create a key with age-keygen and set BACKUP_RECIPIENTS',
    'certificate.expired':
      'for {0}: expired on {1}; check that the domain points to this machine, and that ports 80 and 443 can be reached from the internet; the log of the server says more',
    'certificate.missing':
      'there is none for {0} ({1}): check that the domain points to this machine, and that ports 80 and 443 can be reached from the internet; the log of the server says more',
    'certificate.valid': 'for {0}: valid until {1}',
    'clients.hidden':
      '{0} shows all clients under one address, so limits for one client hold for all of them together: put a proxy on the host, name it in TRUSTED_PROXIES, or raise the limits of functions (docs/docker.md, "Addresses of clients")',
    'clients.kept': 'this Docker keeps their addresses',
    'clients.proxied': 'their addresses come from the proxies of TRUSTED_PROXIES',
    'clock.differs': "the database's clock differs from this machine's by {0}",
    'clock.synchronized': 'is synchronized',
    'clock.unknown': 'synchronization unknown: {0}',
    'clock.unsupported': 'synchronization unknown on this system',
    'clock.unsynchronized': 'is not synchronized: install chrony or turn on systemd-timesyncd',
    'configuration.ignored': 'config.toml has keys without effect here: {0}',
    'configuration.insecure':
      'SITE_URL is not https, so requests can be read on the network; set TLS_DOMAINS, or put a proxy with TLS in front and name it in TRUSTED_PROXIES',
    'configuration.local': 'serves this machine only ({0})',
    'configuration.omitted': '{0} is not set: the pages leave it out',
    'configuration.placeholder': '{0} is not set: the pages show the placeholder {1}',
    'configuration.public': 'serves the network on {0} as {1}',
    'configuration.signup':
      'sign-up is open: anyone can create accounts and make this server send mail to any address',
    'configuration.warning': 'config.toml: {0}',
    'data-folder.missing': '{0} does not exist yet; the first start creates it',
    'data-folder.readable': 'every user of this machine can read the stored files (mode {0}): chmod 750 {1}',
    'data-folder.writable': 'other users may write to {0} (mode {1}): chmod 755 it',
    'database.dropped':
      'another tool has dropped tables of this program: {0}; a running server creates them again within seconds; if it does not, its log says why',
    'database.durable': 'Postgres {0} writes durably; {1} of {2} connections are in use',
    'database.pending':
      '{0} migrations are pending, the first is {1}: restart the server, or run `daawo migrate`',
    'database.slot':
      "replication slot {0} is not in use and keeps {1} of the write-ahead log: if its program is gone, select pg_drop_replication_slot('{0}')",
    'database.unsafe': '{0} is off, so acknowledged data can be lost: turn it on',
    'deployed-functions.lacking': 'run with more rights than they could; this system lacks {0}',
    'deployed-functions.limited': 'have a user, files, system calls and limits of their own',
    'disk.free': '{0} GiB are free for {1}',
    'disk.full': '{0} GiB are free for {1}: free some space before writes fail',
    'disk.low': '{0} GiB are free for {1}: free some space soon',
    'extensions.added': 'were added: {0}',
    'files.foreign':
      '{0} is the mark of another database, or of a newer state of this one, so the content of deleted files stays: start with the database that the files belong to; or, if this one replaces it, empty the mark',
    'indexes.foreign-key':
      'no index of {0} begins with {1}, which the foreign key {2} has, so requests read the whole table: create index {3}on {0} ({1})',
    'indexes.policy':
      'no index of {0} begins with {1}, which its policy {2} compares, so requests read the whole table: create index {3}on {0} ({1})',
    'keys.demo': 'the well-known local keys of the official CLI: safe on this machine only',
    'keys.none': 'none yet; the first start generates them',
    'keys.own': 'unique to this installation',
    'mail.accepted': '{0}:{1} accepts mail from {2}; `daawo notify test` sends one',
    'mail.error':
      '{0}: check SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASS, and that this machine may reach the server',
    'mail.inbox': 'goes to the development inbox; set SMTP_HOST to send it',
    'mail.off': 'is not sent: set SMTP_HOST',
    'mail.off-local': 'is not sent: set SMTP_HOST, or local_smtp.enabled for the development inbox',
    'mail.unauthenticated':
      '{0}:{1} offers no authentication, so mail is sent without; remove SMTP_USER if that is right',
    'nats.connected': 'carries broadcasts and presence between servers',
    'nats.silent': 'does not answer, so clients of other servers get no broadcasts: {0}',
    'postgres.embedded':
      'the embedded {0}, without the fixes of later minors, and with OpenSSL 1.1.1 and ICU 60, which get none; TLS never passes through this OpenSSL. POSTGRES_HOME or --database-url run a newer one',
    'realtime.deletes':
      'users get no DELETE of {0}, because its policies read columns that are not in its primary key: alter table {0} replica identity full',
    'realtime.level':
      'wal_level is {0}, so clients get no changes of rows and no broadcasts from the database: set wal_level = logical and restart Postgres',
    'realtime.no-slot':
      'no replication slot is free: raise max_replication_slots, or drop a slot that is not used',
    'realtime.partition':
      'the partition {0} can be read past the policies of its root: alter table {0} enable row level security',
    'realtime.ready': 'changes of rows can be read; {0} replication slots are free',
    'server.ready': 'is running and ready, {0}',
    'server.silent': 'is running but does not reply: {0}',
    'server.stopped': 'is not running; start it to check its database as well',
    'server.unready': 'is running but not ready (/readyz replies {0}): its log says why',
    'site.built': 'is built into this program',
    'site.missing': 'has no index.html: build the program with its site',
  },
};
