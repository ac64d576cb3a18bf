import type { Guide, GuideFile } from '@desk/backend/guides';
import { Panel } from '@desk/components/panel';
import { shortDay } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { Link } from 'react-router-dom';
import { languageNames } from '@/i18n/language';

const link = 'text-primary inline-flex min-h-[24px] items-center underline';

/** The files of a guide, each with its version and the files before it. */
export function GuideFiles({ guide, editable }: { guide: Guide; editable: boolean }) {
  const { text } = useLanguage();
  return (
    <Panel title={text.guides.files}>
      {guide.resources.length === 0 && <p className="text-muted-foreground">{text.guides.noFile}</p>}
      <ul className="divide-y">
        {guide.resources.map((file) => (
          <FileLine key={file.id} file={file} editable={editable} />
        ))}
      </ul>
    </Panel>
  );
}

function FileLine({ file, editable }: { file: GuideFile; editable: boolean }) {
  const { text, language } = useLanguage();
  const name = file.file_language ? languageNames[file.file_language] : file.title;
  const earlier = [...file.resource_versions].sort((a, b) => b.number - a.number);
  return (
    <li className="flex flex-col gap-1 py-2">
      <p className="flex flex-wrap items-center gap-x-3">
        <a className={link} href={file.file_url} target="_blank" rel="noopener noreferrer">
          {name}
        </a>
        <span className="text-muted-foreground text-sm">
          {text.guides.version(earlier.length + 1)} ·{' '}
          {file.is_active ? text.resources.shown : text.resources.hidden}
        </span>
        {editable && (
          <Link className={`${link} ms-auto`} to={`/resources/${file.id}`}>
            {text.resources.replace}: {name}
          </Link>
        )}
      </p>
      {earlier.map(({ number, file_url, replaced_at }) => (
        <p key={number} className="text-muted-foreground text-sm">
          <a className={link} href={file_url} target="_blank" rel="noopener noreferrer">
            {text.guides.version(number)}
          </a>{' '}
          · {text.guides.replacedOn(shortDay(language, replaced_at))}
        </p>
      ))}
    </li>
  );
}
