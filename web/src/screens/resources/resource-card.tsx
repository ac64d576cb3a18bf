import {
  Baby,
  BookOpen,
  Download,
  FileText,
  Heart,
  LoaderCircle,
  type LucideIcon,
  Shield,
  Smartphone,
  Users,
} from 'lucide-react';
import { useState } from 'react';
import type { Resource } from '@/backend/resources';
import { cn } from '@/components/cn';
import { Badge } from '@/components/ui/badge';
import { Button } from '@/components/ui/button';
import { Card, CardDescription, CardTitle } from '@/components/ui/card';
import { languageNames, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { GuidePicture, guideIcon } from '@/illustrations/guide-picture';
import { downloadResource } from './download-resource';
import { fileSize } from './file-size';
import { fileTypeLabel } from './file-type';
import type { ResourceFile, ResourceGroup } from './group-resources';

const icons = {
  FileText,
  Shield,
  Heart,
  Baby,
  Smartphone,
  Users,
  BookOpen,
  Download,
} satisfies Record<NonNullable<Resource['icon_name']>, LucideIcon>;

/** Returns the icon with a name. The database or an older page may have another name, also that of a property of objects. */
function iconOf(name: string | null): LucideIcon {
  return name !== null && Object.hasOwn(icons, name) ? icons[name as keyof typeof icons] : FileText;
}

/** The site's colours for those that a resource may have. Others get the first. */
const colors: Record<string, string | undefined> = {
  'bg-teal-700': 'bg-primary-soft text-primary',
  'bg-sky-700': 'bg-primary-soft text-primary',
  'bg-emerald-700': 'bg-primary-soft text-primary',
  'bg-rose-700': 'bg-rose-soft text-rose',
  'bg-pink-700': 'bg-rose-soft text-rose',
  'bg-amber-700': 'bg-sun-soft text-sun-ink',
  'bg-violet-700': 'bg-henna-soft text-henna',
  'bg-slate-700': 'bg-muted text-foreground',
};

function colorsOf(name: string) {
  return (Object.hasOwn(colors, name) && colors[name]) || colors['bg-teal-700'];
}

/** A card of one file, or of one guide with a file per language. */
export function ResourceCard({ group: { slug = '', files } }: { group: ResourceGroup }) {
  const language = useLanguage();
  const [first] = files;
  if (!first) return null;
  const { resource } = first;
  const { title, description, category } = textsOf(resource, language);
  const Icon = iconOf(resource.icon_name);
  const picture = guideIcon(slug);

  return (
    <Card className="h-full p-4 md:p-5">
      <div className="flex gap-3">
        {picture ? (
          <div className="w-16 shrink-0">
            <GuidePicture icon={picture} />
          </div>
        ) : (
          <span className={cn('h-fit rounded-xl p-3', colorsOf(resource.color_class))}>
            <Icon aria-hidden className="size-7" />
          </span>
        )}
        <div className="min-w-0">
          <p lang={category.lang} className="text-muted-foreground text-sm font-medium">
            {category.text}
          </p>
          <CardTitle lang={title.lang}>{title.text}</CardTitle>
          <CardDescription lang={description.lang} className="mt-1">
            {description.text}
          </CardDescription>
        </div>
      </div>
      <div className="mt-auto grid gap-2">
        {files.map((file) => (
          <FileRow key={file.resource.id} file={file} title={title.text} alone={files.length === 1} />
        ))}
      </div>
    </Card>
  );
}

/** The button of a file with its type, size and downloads. */
function FileRow({ file, title, alone }: { file: ResourceFile; title: string; alone: boolean }) {
  const text = useText('resources');
  const own = useLanguage();
  const [busy, setBusy] = useState(false);
  const { resource, language } = file;
  const named = !alone && language;

  async function download() {
    setBusy(true);
    await downloadResource(resource, textsOf(resource, own).title.text, text.toasts);
    setBusy(false);
  }

  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Button
        type="button"
        variant={alone || language === own ? 'default' : 'outline'}
        disabled={busy}
        aria-label={`${text.download}${named ? ` ${languageNames[named]}` : ''}: ${title}`}
        onClick={() => void download()}
        className="px-4"
      >
        {busy ? <LoaderCircle aria-hidden className="motion-safe:animate-spin" /> : <Download aria-hidden />}
        <span>
          {text.download}
          {named && <span lang={named}>{` ${languageNames[named]}`}</span>}
        </span>
      </Button>
      <p className="text-muted-foreground flex flex-wrap items-center gap-x-2 text-sm">
        <Badge className="bg-muted text-foreground">
          <span className="sr-only">{text.fileType}: </span>
          {fileTypeLabel(resource.file_type)}
        </Badge>
        {resource.file_size > 0 && (
          <span>
            <span className="sr-only">{text.fileSize}: </span>
            {fileSize(resource.file_size)}
          </span>
        )}
        {resource.download_count > 0 && (
          <span>{text.downloads.replace('{count}', String(resource.download_count))}</span>
        )}
      </p>
    </div>
  );
}

/**
 * Returns the texts of the card in the page's language, or in English with a lang attribute if there is no translation.
 */
function textsOf(resource: Resource, language: 'en' | 'so') {
  const pick = (english: string, somali: string | null) => {
    if (language === 'so' && somali) return { text: somali };
    return { text: english, lang: language === 'so' ? 'en' : undefined };
  };
  return {
    title: pick(resource.title, resource.title_so),
    description: pick(resource.description, resource.description_so),
    category: pick(resource.category, resource.category_so),
  };
}
