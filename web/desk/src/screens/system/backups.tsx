import { type Backup, operate, type Verified } from '@desk/backend/system';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { shortTime, since } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { toast } from '@desk/lib/toast';
import { useState } from 'react';
import { fileSize } from '@/lib/file-size';
import { Operation } from './operation';

/** Backups that are listed: the newest. */
const listed = 10;

const size = (bytes: number) => fileSize(bytes, 1);

/** The backups, with the buttons that make one and verify all. */
export function Backups({ times }: { times: number }) {
  const { text, language } = useLanguage();
  const [busy, setBusy] = useState<'make' | 'verify'>();
  const run = async (kind: 'make' | 'verify', action: () => Promise<string>) => {
    setBusy(kind);
    await attempt(text, () => action().then((done) => toast.success(done)));
    setBusy(undefined);
  };
  const make = async () => text.system.made(size((await operate<Backup>('backup')).Size));
  const verify = async () => {
    const found = await operate<Verified>('backup-verify');
    return text.system.verified(found.Backups, found.Files, size(found.Bytes));
  };
  return (
    <Operation<Backup[] | null>
      times={times}
      title={text.system.backups}
      name="backups"
      extra={(reload) => (
        <>
          <Button
            variant="outline"
            disabled={busy !== undefined}
            onClick={() => run('make', make).then(reload)}
          >
            {busy === 'make' ? text.system.making : text.system.makeBackup}
          </Button>
          <Button variant="outline" disabled={busy !== undefined} onClick={() => run('verify', verify)}>
            {busy === 'verify' ? text.loading : text.system.verify}
          </Button>
        </>
      )}
    >
      {(list) =>
        !list || list.length === 0 ? (
          <p>{text.system.noBackups}</p>
        ) : (
          <ul className="text-sm">
            {list.slice(0, listed).map((b) => (
              <li key={b.Name} className="flex flex-wrap gap-x-4">
                <span className="font-mono">{b.Name}</span>
                <span className="text-muted-foreground">
                  {shortTime(language, b.Time)} ({text.system.age(since(b.Time))}) · {size(b.Size)}
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Operation>
  );
}
