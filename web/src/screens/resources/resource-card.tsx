import { useState } from 'react';
import { Badge } from '@/components/ui/badge';
import { Card, CardDescription, CardTitle } from '@/components/ui/card';
import { languageNames, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { GuidePicture, guideIcon } from '@/illustrations/guide-picture';
import { fileSize } from '@/lib/file-size';
import { fileTypeLabel } from '@/lib/file-type';
import { FileButton } from './file-button';
import type { ResourceFile, ResourceGroup } from './group-resources';
import { ResourceIcon } from './resource-icon';
import { textsOf } from './resource-texts';
import { reviewOf } from './review-of';

/** A card of one file, or of one guide with a file per language. */
export function ResourceCard({ group: { slug = '', files } }: { group: ResourceGroup }) {
  const text = useText('resources');
  const language = useLanguage();
  const [first] = files;
  if (!first) return null;
  const { resource } = first;
  const { title, description, category } = textsOf(
    (files.length > 1 && resource.guides) || resource,
    language,
  );
  const picture = guideIcon(slug);
  const preview = files.map((file) => file.resource.preview_url).find((address) => address);
  const downloads = files.reduce((sum, file) => sum + file.resource.download_count, 0);

  return (
    <Card className="h-full p-4">
      <div className="flex flex-wrap items-center gap-3">
        {resource.guides?.picture ? (
          <img
            src={resource.guides.picture}
            alt=""
            loading="lazy"
            className="size-16 shrink-0 rounded-lg object-cover"
          />
        ) : picture ? (
          <div className="w-16 shrink-0">
            <GuidePicture icon={picture} />
          </div>
        ) : (
          <ResourceIcon name={resource.icon_name} color={resource.color_class} />
        )}
        <div className="min-w-0 flex-1 basis-32">
          <p lang={category.lang} className="text-muted-foreground text-sm font-medium">
            {category.text}
          </p>
          <CardTitle lang={title.lang}>{title.text}</CardTitle>
        </div>
      </div>
      <div className="flex gap-3">
        <CardDescription lang={description.lang} className="flex-1">
          {description.text}
        </CardDescription>
        {preview && <PagePreview key={preview} address={preview} />}
      </div>
      <div className="text-muted-foreground mt-auto grid gap-1 text-[0.8125rem]">
        <FileFacts files={files} />
        {resource.guides && <p>{reviewOf(resource.guides, text, language)}</p>}
        <p>{text.downloads.replace('{count}', String(downloads))}</p>
      </div>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(7.5rem,100%),1fr))] gap-2">
        {files.map((file) => (
          <FileButton
            key={file.resource.id}
            file={file}
            title={title.text}
            alone={files.length === 1}
            sizeId={sizeIdOf(file)}
          />
        ))}
      </div>
    </Card>
  );
}

function sizeIdOf({ resource }: ResourceFile) {
  return `size-${resource.id}`;
}

/** A small picture of a file's first page. Without a connection there is none. */
function PagePreview({ address }: { address: string }) {
  const [missing, setMissing] = useState(false);
  if (missing) return null;
  return (
    <img
      src={address}
      alt=""
      width={80}
      height={113}
      loading="lazy"
      decoding="async"
      onError={() => setMissing(true)}
      className="h-[7.0625rem] w-20 shrink-0 rounded-sm border bg-white object-cover object-top"
    />
  );
}

/**
 * The types and sizes of the files: 'PDF English 100.46 KB | Soomaali 98.3 KB'. A bar at the start of a line is outside of
 * the box and hidden.
 */
function FileFacts({ files }: { files: readonly ResourceFile[] }) {
  const text = useText('resources');
  return (
    <p className="flex items-start gap-2">
      {[...new Set(files.map(({ resource }) => fileTypeLabel(resource.file_type)))].map((type) => (
        <Badge key={type} className="bg-muted text-foreground shrink-0 px-2 text-xs">
          <span className="sr-only">{text.fileType}: </span>
          {type}
        </Badge>
      ))}{' '}
      <span className="flex flex-wrap gap-x-3 overflow-hidden">
        {files.map((file, at) => (
          <span key={file.resource.id} className="relative">
            {at > 0 && (
              <span aria-hidden className="absolute -start-2">
                {' |'}
              </span>
            )}
            {file.language && <span lang={file.language}>{languageNames[file.language]} </span>}
            <span id={sizeIdOf(file)}>
              <span className="sr-only">{text.fileSize}: </span>
              {fileSize(file.resource.file_size)}
            </span>
          </span>
        ))}
      </span>
    </p>
  );
}
