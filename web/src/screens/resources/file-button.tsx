import { Download, LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { languageNames, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { downloadResource } from './download-resource';
import type { ResourceFile } from './group-resources';
import { textsOf } from './resource-texts';

interface FileButtonProps {
  file: ResourceFile;
  title: string;
  /** Whether the card has one file. */
  alone: boolean;
  /** The id of the element with the size of the file. */
  sizeId: string;
}

/** The button of a file, with its language if there are several. All buttons have one height. */
export function FileButton({ file: { resource, language }, title, alone, sizeId }: FileButtonProps) {
  const text = useText('resources');
  const own = useLanguage();
  const [busy, setBusy] = useState(false);
  const named = !alone && language ? languageNames[language] : '';

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
      size="tile"
      className="[&_svg]:size-4"
    >
      <span className="inline-flex items-center gap-1.5">
        {busy ? <LoaderCircle aria-hidden className="motion-safe:animate-spin" /> : <Download aria-hidden />}
        {text.download}
      </span>
      {named && (
        <span lang={language} className="-mt-2 text-xs font-normal">
          {named}
        </span>
      )}
    </Button>
  );
}
