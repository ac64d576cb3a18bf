import type { text as english } from '../en/checks';

export const text: typeof english = {
  verdicts: { ok: 'hagaag', note: 'ogow', warn: 'digniin', BAD: 'XUN' },
  names: {
    backup: 'kayd',
    certificate: 'shahaadad',
    clients: 'macaamiil',
    clock: 'saacad',
    configuration: 'habayn',
    'data folder': 'galka xogta',
    database: 'kaydka xogta',
    'deployed functions': 'shaqooyinka la rakibay',
    disk: 'disk',
    extensions: 'kordhin',
    files: 'faylal',
    indexes: 'tusmooyin',
    keys: 'furayaal',
    mail: 'iimayl',
    NATS: 'NATS',
    Postgres: 'Postgres',
    realtime: 'realtime',
    server: 'server',
    site: 'degel',
  },
  says: {
    'backup.elsewhere':
      'DATABASE_URL waxay sheegtaa kaydka xogta ee server kale: kaydka halka uu ka socdo ku samee',
    'backup.future':
      'waqtiga kaydka ugu cusub ee {0} waa {1} mustaqbalka, maxaa yeelay saacad ayaa khaldan ama khaldanayd: hubi saacadda qalabkan (timedatectl); markaas server-ka socda isla markiiba kayd kale ayuu sameeyaa',
    'backup.newest': 'kan ugu cusub {0} kayd oo {1} ku jira waxaa la sameeyay {2} ka hor',
    'backup.none':
      '{0} kuma jiro kayd fiican, markaa wax walba way lumi karaan: `daawo backup` mid ayuu sameeyaa; diiwaanka server-ka ayaa sheega sababta uusan mid u samayn',
    'backup.off': 'waa dansan yahay: BACKUP_TO ku sheeg gal ku yaal disk kale ama bucket',
    'backup.old':
      'kaydka ugu cusub ee {0} waxaa la sameeyay {1} ka hor: diiwaanka server-ka ayaa sheega sababta uusan mid ka cusub u jirin',
    'backup.taken':
      '{0}: BACKUP_TO ku sheeg meel maran; haddii kan kale tagay, kani bilowgiisa laba daqiiqo gudahood ayuu meesha la wareegaa',
    'backup.unencrypted': '{0} sir ma aha: fure ku samee age-keygen oo deji BACKUP_RECIPIENTS',
    'certificate.expired':
      '{0}: wuu dhacay {1}; hubi in magacu qalabkan tilmaamo, iyo in irdaha 80 iyo 443 laga gaari karo internet-ka; diiwaanka server-ka wax dheeraad ah ayuu sheegaa',
    'certificate.missing':
      '{0} ma laha ({1}): hubi in magacu qalabkan tilmaamo, iyo in irdaha 80 iyo 443 laga gaari karo internet-ka; diiwaanka server-ka wax dheeraad ah ayuu sheegaa',
    'certificate.valid': '{0}: wuu shaqaynayaa ilaa {1}',
    'clients.hidden':
      '{0} macaamiisha oo dhan hal cinwaan ayuu ku tusaa, markaa xadka hal macmiil dhammaantood ayuu wada qabtaa: qalabka saar proxy, ku sheeg TRUSTED_PROXIES, ama kor u qaad xadka shaqooyinka (docs/docker.md, "Addresses of clients")',
    'clients.kept': 'Docker-kani cinwaannadooda wuu hayaa',
    'clients.proxied': 'cinwaannadooda waxay ka yimaadaan proxy-yada TRUSTED_PROXIES',
    'clock.differs': 'saacadda kaydka xogta waxay ka duwan tahay tan qalabkan {0}',
    'clock.synchronized': 'waa la simay',
    'clock.unknown': 'lama oga in la simay: {0}',
    'clock.unsupported': 'nidaamkan lagama ogaan karo in la simay',
    'clock.unsynchronized': 'lama simin: rakib chrony ama daar systemd-timesyncd',
    'configuration.ignored': 'config.toml waxaa ku jira furayaal aan halkan wax ka qaban: {0}',
    'configuration.insecure':
      'SITE_URL https ma aha, markaa codsiyada shabakadda ayaa laga akhrin karaa; deji TLS_DOMAINS, ama hor dhig proxy leh TLS oo ku sheeg TRUSTED_PROXIES',
    'configuration.local': 'qalabkan oo keliya ayuu u adeegaa ({0})',
    'configuration.omitted': '{0} lama dejin: bogaggu way ka tagaan',
    'configuration.placeholder': '{0} lama dejin: bogaggu waxay muujinayaan qoraalka kumeelgaarka ah {1}',
    'configuration.public': 'shabakadda ayuu uga adeegaa {0}, isagoo ah {1}',
    'configuration.signup':
      'isdiiwaangelintu way furan tahay: qof kastaa akoon wuu samayn karaa oo server-kan iimayl wuxuu uga dirin karaa cinwaan kasta',
    'configuration.warning': 'config.toml: {0}',
    'data-folder.missing': '{0} weli ma jiro; bilowga ugu horreeya ayaa sameeya',
    'data-folder.readable':
      'isticmaale kasta oo qalabkan ah faylasha la kaydiyay wuu akhrin karaa (habka {0}): chmod 750 {1}',
    'data-folder.writable': 'isticmaaleyaal kale wax bay ku qori karaan {0} (habka {1}): chmod 755',
    'database.dropped':
      'qalab kale ayaa tirtiray jadwallada barnaamijkan: {0}; server-ka socda ilbiriqsiyo gudahood ayuu dib u sameeyaa; haddii kale, diiwaankiisa ayaa sababta sheega',
    'database.durable':
      'Postgres {0} si joogto ah ayuu wax u qoraa; {1} ka mid ah {2} xiriir ayaa la isticmaalayaa',
    'database.pending':
      '{0} migration ayaa sugaya, ka hore waa {1}: dib u bilow server-ka, ama socodsii `daawo migrate`',
    'database.slot':
      "replication slot {0} lama isticmaalo wuxuuna hayaa {1} oo diiwaanka qoraalka ah: haddii barnaamijkiisu tagay, select pg_drop_replication_slot('{0}')",
    'database.unsafe': '{0} waa dansan yahay, markaa xog la xaqiijiyay way lumi kartaa: daar',
    'deployed-functions.lacking':
      'waxay leeyihiin xuquuq ka badan intii ay yeelan kareen; nidaamkan waxaa ka maqan {0}',
    'deployed-functions.limited': 'waxay leeyihiin isticmaale, faylal, wicitaanno nidaam iyo xad u gaar ah',
    'disk.free': '{0} GiB ayaa u bannaan {1}',
    'disk.full': '{0} GiB ayaa u bannaan {1}: meel bannee inta aan qoraalku fashilmin',
    'disk.low': '{0} GiB ayaa u bannaan {1}: dhowaan meel bannee',
    'extensions.added': 'waxaa lagu daray: {0}',
    'files.foreign':
      '{0} waa calaamadda kayd xogeed kale, ama xaalad ka cusub tan, markaa waxa ku jira faylasha la tirtiray way sii jiraan: ku bilow kaydka xogta ee ay faylashu leeyihiin; ama, haddii kani beddelay, madhi calaamadda',
    'indexes.foreign-key':
      'tusmo {0} ka mid ah kuma bilaabato {1}, oo furaha shisheeye {2} leeyahay, markaa codsiyadu jadwalka oo dhan ayay akhriyaan: create index {3}on {0} ({1})',
    'indexes.policy':
      'tusmo {0} ka mid ah kuma bilaabato {1}, oo policy-giisa {2} barbar dhigo, markaa codsiyadu jadwalka oo dhan ayay akhriyaan: create index {3}on {0} ({1})',
    'keys.demo': 'furayaasha la yaqaan ee CLI-ga rasmiga ah: qalabkan oo keliya ayay ammaan ku yihiin',
    'keys.none': 'weli ma jiraan; bilowga ugu horreeya ayaa sameeya',
    'keys.own': 'waa kuwo rakibaaddan u gaar ah',
    'mail.accepted': '{0}:{1} wuu aqbalaa iimaylka {2}; `daawo notify test` mid ayuu diraa',
    'mail.error':
      '{0}: hubi SMTP_HOST, SMTP_PORT, SMTP_USER iyo SMTP_PASS, iyo in qalabkani server-ka gaari karo',
    'mail.inbox': 'wuxuu galaa sanduuqa horumarinta; si loo diro, deji SMTP_HOST',
    'mail.off': 'lama diro: deji SMTP_HOST',
    'mail.off-local': 'lama diro: deji SMTP_HOST, ama local_smtp.enabled oo ah sanduuqa horumarinta',
    'mail.unauthenticated':
      '{0}:{1} ma bixiyo xaqiijin, markaa iimaylka la’aanteed ayaa la diraa; haddii ay sax tahay, ka saar SMTP_USER',
    'nats.connected': 'wuxuu server-rada isugu gudbiyaa farriimaha iyo joogitaanka',
    'nats.silent': 'ma jawaabayo, markaa macaamiisha server-rada kale farriimo ma helaan: {0}',
    'postgres.embedded':
      '{0} oo barnaamijka ku dhex jira, aan lahayn hagaajinta noocyada ka dambeeya, wata OpenSSL 1.1.1 iyo ICU 60 oo aan hagaajin helin; TLS weligeed kama gudubto OpenSSL-kan. POSTGRES_HOME ama --database-url mid ka cusub ayay socodsiiyaan',
    'realtime.deletes':
      'isticmaaleyaashu ma helaan DELETE ee {0}, maxaa yeelay policy-yadiisu waxay akhriyaan tiirar aan ku jirin furaha koowaad: alter table {0} replica identity full',
    'realtime.level':
      'wal_level waa {0}, markaa macaamiishu ma helaan isbeddelka safafka iyo farriimaha kaydka xogta: deji wal_level = logical oo Postgres dib u bilow',
    'realtime.no-slot':
      'replication slot bannaan ma jiro: kor u qaad max_replication_slots, ama tirtir mid aan la isticmaalin',
    'realtime.partition':
      'qaybta {0} waa la akhrin karaa iyadoo aan la marin policy-yada asalkeeda: alter table {0} enable row level security',
    'realtime.ready': 'isbeddelka safafka waa la akhrin karaa; {0} replication slot ayaa bannaan',
    'server.ready': 'wuu socdaa, waana diyaar, {0}',
    'server.silent': 'wuu socdaa, laakiin ma jawaabayo: {0}',
    'server.stopped': 'ma socdo; bilow si kaydka xogtiisana loo hubiyo',
    'server.unready':
      'wuu socdaa, laakiin diyaar ma aha (/readyz wuxuu ku jawaabay {0}): diiwaankiisa ayaa sababta sheega',
    'site.built': 'barnaamijkan ayuu ku dhex jiraa',
    'site.missing': 'ma laha index.html: barnaamijka la dhis degelkiisa',
  },
};
