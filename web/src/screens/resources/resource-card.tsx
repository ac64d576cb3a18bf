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
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { downloadResource } from './download-resource';
import { fileSize } from './file-size';
import { fileTypeLabel } from './file-type';

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

/** The background colours that a resource may have: the check constraint of resources.color_class. */
const backgrounds = [
  'bg-teal-700',
  'bg-sky-700',
  'bg-rose-700',
  'bg-amber-700',
  'bg-violet-700',
  'bg-emerald-700',
  'bg-pink-700',
  'bg-slate-700',
];

export function ResourceCard({ resource }: { resource: Resource }) {
  const text = useText('resources');
  const language = useLanguage();
  const [busy, setBusy] = useState(false);
  const { title, description, category } = textsOf(resource, language);
  const Icon = iconOf(resource.icon_name);
  const background = backgrounds.includes(resource.color_class) ? resource.color_class : backgrounds[0];

  async function download() {
    setBusy(true);
    await downloadResource(resource, title.text, text.toasts);
    setBusy(false);
  }

  return (
    <Card className="h-full">
      <div className="flex items-start gap-3">
        <span className={cn('grid size-12 shrink-0 place-items-center rounded-xl text-white', background)}>
          <Icon aria-hidden className="size-6" />
        </span>
        <div className="min-w-0">
          <p lang={category.lang} className="text-muted-foreground text-sm font-medium">
            {category.text}
          </p>
          <CardTitle lang={title.lang}>{title.text}</CardTitle>
        </div>
      </div>
      <CardDescription lang={description.lang}>{description.text}</CardDescription>
      <div className="text-muted-foreground mt-auto flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
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
        <span>{text.downloads.replace('{count}', String(resource.download_count))}</span>
      </div>
      <Button
        type="button"
        disabled={busy}
        aria-label={text.downloadNamed.replace('{title}', title.text)}
        onClick={() => void download()}
      >
        {busy ? <LoaderCircle aria-hidden className="motion-safe:animate-spin" /> : <Download aria-hidden />}
        {text.download}
      </Button>
    </Card>
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
