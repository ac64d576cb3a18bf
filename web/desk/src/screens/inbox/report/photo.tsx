import { fetchPhoto, type Report } from '@desk/backend/reports';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { useEffect, useState } from 'react';
import { PhotoZoom } from './photo-zoom';

interface Props {
  name: string;
  metadata: Report['photo_metadata'];
  reference: string;
}

/** The photo, held in memory while the report is open. */
export function Photo({ name, metadata, reference }: Props) {
  const text = useText();
  const [url, setUrl] = useState<string>();
  const [failed, setFailed] = useState(false);
  const [zoomed, setZoomed] = useState(false);
  useEffect(() => {
    let made: string | undefined;
    let current = true;
    fetchPhoto(name).then(
      (blob) => {
        if (!current) return;
        made = URL.createObjectURL(blob);
        setUrl(made);
      },
      () => current && setFailed(true),
    );
    return () => {
      current = false;
      if (made) URL.revokeObjectURL(made);
    };
  }, [name]);
  return (
    <Panel title={text.report.photo}>
      {metadata !== 'removed' && (
        <p className="bg-sun-soft text-sun-ink mb-3 rounded-lg p-2 text-sm">
          {metadata === 'kept' ? text.report.photoKept : text.report.photoPending}
        </p>
      )}
      {!url && <p role="status">{failed ? text.report.photoFailed : text.report.photoLoading}</p>}
      {url && (
        <div className="flex flex-wrap items-end gap-3">
          {!failed && (
            <button type="button" className="cursor-zoom-in" onClick={() => setZoomed(true)}>
              <img
                src={url}
                alt={text.report.zoom}
                className="max-h-72 max-w-full rounded border"
                onError={() => setFailed(true)}
              />
            </button>
          )}
          {failed && <p>{text.report.photoFailed}</p>}
          <a href={url} download={`${reference}-${name}`} className="text-primary no-print text-sm underline">
            {text.report.download}
          </a>
        </div>
      )}
      {zoomed && url && <PhotoZoom url={url} onClose={() => setZoomed(false)} />}
    </Panel>
  );
}
