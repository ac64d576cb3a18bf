import type { Values } from '@desk/backend/resources';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { cn } from '@/components/cn';
import { type Language, languages } from '@/i18n/language';
import { fileSize } from '@/lib/file-size';
import { fileTypeLabel } from '@/lib/file-type';
import { backgroundOf } from './colours';
import { iconOf } from './icons';
import { hasFile, textsIn } from './values';

/** The card as visitors see it, in both languages. */
export function Preview({ values }: { values: Values }) {
  const text = useText();
  const [language, setLanguage] = useState<Language>('en');
  const Icon = iconOf(values.icon_name);
  const { title, description, category } = textsIn(language, values);
  return (
    <Panel
      title={text.resources.preview}
      className="h-fit"
      aside={
        <div className="flex">
          {languages.map((l) => (
            <Button
              key={l}
              variant={l === language ? 'default' : 'ghost'}
              aria-pressed={l === language}
              onClick={() => setLanguage(l)}
            >
              {l.toUpperCase()}
            </Button>
          ))}
        </div>
      }
    >
      <article lang={language} className="bg-background flex flex-col gap-3 rounded-2xl border p-5">
        <div
          className={cn(
            'grid size-12 place-items-center rounded-xl text-white',
            backgroundOf(values.color_class),
          )}
        >
          <Icon aria-hidden="true" />
        </div>
        <p className="text-muted-foreground text-sm">{category || '–'}</p>
        <p className="text-lg font-semibold wrap-anywhere">{title || '–'}</p>
        <div className="flex gap-3">
          <p className="flex-1 wrap-anywhere">{description}</p>
          {values.preview_url && (
            <img
              src={values.preview_url}
              alt=""
              width={80}
              height={113}
              className="rounded-sm border bg-white"
            />
          )}
        </div>
        <p className="text-muted-foreground text-sm">
          {!hasFile(values)
            ? text.resources.soon
            : `${fileTypeLabel(values.file_type)} · ${fileSize(values.file_size, 1)}`}
        </p>
      </article>
    </Panel>
  );
}
