import type { Values } from '@desk/backend/resources';
import { Button, Panel } from '@desk/components/ui';
import { useText } from '@desk/i18n/language';
import {
  Baby,
  BookOpen,
  Download,
  FileText,
  Heart,
  type LucideIcon,
  Shield,
  Smartphone,
  Users,
} from 'lucide-react';
import { useState } from 'react';
import { cn } from '@/components/cn';

const drawn: Record<NonNullable<Values['icon_name']>, LucideIcon> = {
  FileText,
  Shield,
  Heart,
  Baby,
  Smartphone,
  Users,
  BookOpen,
  Download,
};

/* The style sheet is built from the classes that the source names. */
const grounds: Record<string, string> = {
  'bg-teal-700': 'bg-teal-700',
  'bg-sky-700': 'bg-sky-700',
  'bg-rose-700': 'bg-rose-700',
  'bg-amber-700': 'bg-amber-700',
  'bg-violet-700': 'bg-violet-700',
  'bg-emerald-700': 'bg-emerald-700',
  'bg-pink-700': 'bg-pink-700',
  'bg-slate-700': 'bg-slate-700',
};

/** Returns the colour of a resource. An imported one may have another text, for which the site takes the first colour. */
function groundOf(color: string) {
  return Object.hasOwn(grounds, color) ? grounds[color] : grounds['bg-teal-700'];
}

/** The card as visitors see it, in both languages. */
export function Preview({ values }: { values: Values }) {
  const text = useText();
  const [language, setLanguage] = useState<'en' | 'so'>('en');
  const Icon = drawn[values.icon_name ?? 'FileText'];
  const pick = (english: string, somali: string | null) =>
    language === 'so' && somali?.trim() ? somali : english;
  return (
    <Panel
      title={text.resources.preview}
      className="h-fit"
      aside={
        <div className="flex">
          {(['en', 'so'] as const).map((l) => (
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
            groundOf(values.color_class),
          )}
        >
          <Icon aria-hidden="true" />
        </div>
        <p className="text-muted-foreground text-sm">{pick(values.category, values.category_so) || '–'}</p>
        <p className="text-lg font-semibold wrap-anywhere">{pick(values.title, values.title_so) || '–'}</p>
        <p className="wrap-anywhere">{pick(values.description, values.description_so)}</p>
        <p className="text-muted-foreground text-sm">
          {values.file_url === '#'
            ? text.resources.soon
            : `${label(values.file_type)} · ${size(values.file_size)}`}
        </p>
      </article>
    </Panel>
  );
}

const label = (type: string) =>
  type === 'application/pdf' ? 'PDF' : (type.split('/')[1] ?? '').slice(0, 4).toUpperCase();

/** Returns a size as '1.2 MB'. */
export function size(bytes: number) {
  const units = ['B', 'KB', 'MB', 'GB'];
  const power = Math.min(3, bytes > 0 ? Math.floor(Math.log(bytes) / Math.log(1024)) : 0);
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}
