import { fileTypes, refusal } from '@desk/backend/resource-file';
import { storePreview, type Values } from '@desk/backend/resources';
import { type UploadProgress, uploadFile } from '@desk/backend/upload-file';
import { Button } from '@desk/components/button';
import { message } from '@desk/components/message';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { fileKind } from '@desk/lib/file-kind';
import { firstPage } from '@desk/lib/first-page';
import { Upload } from 'lucide-react';
import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import { cn } from '@/components/cn';
import { ProgressBar } from '@/components/ui/progress-bar';
import { hasFile } from './values';

interface Props {
  values: Values;
  onChange: (values: Partial<Values>) => void;
  onBusy: (busy: boolean) => void;
}

/**
 * Draws and stores the picture of the first page. Returns null for a kind of file that has none, and
 * undefined if there is no picture of this one: the file is as good without.
 */
async function previewOf(file: File) {
  try {
    const picture = await firstPage(file);
    return picture ? await storePreview(file.name, picture) : null;
  } catch {
    return undefined;
  }
}

/**
 * The file of a resource: dropped or chosen, and uploaded at once with its progress. It is stored
 * with the form.
 */
export function FileField({ values, onChange, onBusy }: Props) {
  const text = useText();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [state, setState] = useState('');
  const [error, setError] = useState('');
  const [over, setOver] = useState(false);
  const [progress, setProgress] = useState<UploadProgress>();
  const stop = useRef<AbortController>(null); // of the upload that has not ended
  useEffect(() => () => stop.current?.abort(), []);

  const upload = async (chosen: File, signal: AbortSignal) => {
    const { name, lastModified } = chosen;
    const file = new File([chosen], name, { type: await fileKind(chosen), lastModified });
    const refused = refusal(file);
    if (refused) return setError(text.resources[refused]);
    setProgress({ done: 0, waiting: false });
    onBusy(true);
    try {
      const stored = await uploadFile(file, setProgress, signal);
      const preview_url = await previewOf(file);
      signal.throwIfAborted();
      onChange({ ...stored, preview_url: preview_url ?? null });
      const result = `${file.name}: ${text.resources.uploaded}`;
      setError('');
      setState(preview_url === undefined ? `${result} ${text.resources.noPreview}` : result);
    } catch (failure) {
      if (!signal.aborted) setError(text.failed(message(failure, text)));
    }
    setProgress(undefined);
    onBusy(false);
  };
  const take = async (chosen: FileList | File[] | null) => {
    const [first, second] = chosen ?? [];
    if (!first) return;
    if (stop.current) return setError(text.resources.uploadRuns);
    if (second) return setError(text.resources.oneFile);
    stop.current = new AbortController();
    setState('');
    setError('');
    try {
      await upload(first, stop.current.signal);
    } finally {
      stop.current = null;
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files);
  };
  return (
    <Panel title={text.resources.file}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is the second way; the button is the first */}
      <div
        onDragOver={(e) => {
          e.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={cn(
          'flex flex-col items-center gap-2 rounded-lg border-2 border-dashed p-5 text-center',
          over && 'border-primary bg-primary-soft',
        )}
      >
        <input
          ref={input}
          id={id}
          type="file"
          className="sr-only"
          tabIndex={-1}
          aria-label={text.resources.file}
          accept={fileTypes.join(',')}
          onChange={(e) => {
            void take(e.target.files);
            e.target.value = ''; // the same file may be chosen again
          }}
        />
        <Button variant="outline" disabled={progress !== undefined} onClick={() => input.current?.click()}>
          <Upload aria-hidden="true" className="size-4!" />
          {hasFile(values) ? text.resources.replace : text.resources.drop}
        </Button>
        <p className="text-muted-foreground text-sm">{text.resources.fileHelp}</p>
        {progress !== undefined && (
          <div className="flex w-full max-w-xs items-center gap-2">
            <ProgressBar value={progress.done} aria-label={text.resources.file} />
            <span className="text-sm whitespace-nowrap">
              {text.resources.uploading(Math.floor(progress.done * 100))}
            </span>
            <Button variant="ghost" onClick={() => stop.current?.abort()}>
              {text.cancel}
            </Button>
          </div>
        )}
        {progress?.waiting && (
          <p role="status" className="text-sun-ink text-sm">
            {text.resources.waiting}
          </p>
        )}
        <p role="status" className="text-done text-sm">
          {state}
        </p>
        {error && (
          <p role="alert" className="text-destructive text-sm">
            {error}
          </p>
        )}
      </div>
    </Panel>
  );
}
