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
import { fileSize } from '@/lib/file-size';
import { fileTypeLabel } from '@/lib/file-type';
import { downloadResource } from './download-resource';
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
  const text = useText('resources');
  const language = useLanguage();
  const [first] = files;
  if (!first) return null;
  const { resource } = first;
  const { title, description, category } = textsOf(resource, language);
  const Icon = iconOf(resource.icon_name);
  const picture = guideIcon(slug);

  const downloads = files.reduce((sum, file) => sum + file.resource.download_count, 0);

  return (
    <Card className="h-full p-4">
      <div className="flex items-center gap-3">
        {picture ? (
          <div className="w-16 shrink-0">
            <GuidePicture icon={picture} />
          </div>
        ) : (
          <span className={cn('rounded-xl p-3', colorsOf(resource.color_class))}>
            <Icon aria-hidden className="size-7" />
          </span>
        )}
        <div className="min-w-0">
          <p className="text-muted-foreground flex flex-wrap items-center gap-x-2 text-sm">
            <span lang={category.lang} className="font-medium">
              {category.text}
            </span>
            {[...new Set(files.map((file) => fileTypeLabel(file.resource.file_type)))].map((type) => (
              <Badge key={type} className="bg-muted text-foreground px-2 text-xs">
                <span className="sr-only">{text.fileType}: </span>
                {type}
              </Badge>
            ))}
            {downloads > 0 && <span>{text.downloads.replace('{count}', String(downloads))}</span>}
          </p>
          <CardTitle lang={title.lang}>{title.text}</CardTitle>
        </div>
      </div>
      <CardDescription lang={description.lang}>{description.text}</CardDescription>
      <div className="mt-auto grid grid-cols-[repeat(auto-fit,minmax(min(7.5rem,100%),1fr))] gap-2">
        {files.map((file) => (
          <FileButton key={file.resource.id} file={file} title={title.text} alone={files.length === 1} />
        ))}
      </div>
    </Card>
  );
}

/** The button of a file, with its language if there are several, and its size. */
function FileButton({ file, title, alone }: { file: ResourceFile; title: string; alone: boolean }) {
  const text = useText('resources');
  const own = useLanguage();
  const [busy, setBusy] = useState(false);
  const { resource, language } = file;
  const named = !alone && language ? languageNames[language] : '';
  const sizeId = `size-${resource.id}`;

  async function download() {
    setBusy(true);
    await downloadResource(resource, textsOf(resource, own).title.text, text.toasts);
    setBusy(false);
  }

  return (
    <Button
      type="button"
      variant={alone || language === own ? 'default' : 'outline'}
      disabled={busy}
      aria-label={`${[text.download, named].filter(Boolean).join(' ')}: ${title}`}
      aria-describedby={sizeId}
      onClick={() => void download()}
      className="flex-wrap gap-y-0 px-1 [&_svg]:size-4"
    >
      {busy ? <LoaderCircle aria-hidden className="motion-safe:animate-spin" /> : <Download aria-hidden />}
      {text.download}
      {(named || resource.file_size > 0) && (
        <span className="w-full text-center text-xs font-normal whitespace-normal">
          <span lang={language} className="block">
            {named}
          </span>
          {resource.file_size > 0 && (
            <span id={sizeId} className="block">
              <span className="sr-only">{text.fileSize}: </span>
              {fileSize(resource.file_size)}
            </span>
          )}
        </span>
      )}
    </Button>
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
