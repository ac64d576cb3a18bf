import { Camera, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { cn } from '@/components/cn';
import { Field } from '@/components/field';
import { toast } from '@/components/toast';
import { Button, buttonVariants } from '@/components/ui/button';
import { useText } from '@/i18n/text';
import { maxPhotoBytes } from './report';

const megabyte = 1024 * 1024;

interface PhotoFieldProps {
  photo: File | undefined;
  onChange: (photo: File | undefined) => void;
}

export function PhotoField({ photo, onChange }: PhotoFieldProps) {
  const text = useText('report');
  const input = useRef<HTMLInputElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: for a photo chosen before hydration
  useEffect(() => take(input.current?.files?.[0]), []);

  function take(file: File | undefined) {
    if (!file) return;
    const problem = problemWith(file);
    if (problem) {
      toast({ ...text.toasts[problem], variant: 'destructive' });
      remove();
    } else onChange(file);
  }

  function remove() {
    if (input.current) input.current.value = '';
    onChange(undefined);
  }

  function removeChosen() {
    remove();
    input.current?.focus(); // the focused button disappears with the photo
  }

  return (
    <Field name="photo" label={text.photo} hint={text.photoHint}>
      {(control) => (
        <>
          {/* The browser's own button is in the browser's language. The label below is in the page's language. */}
          <input
            {...control}
            ref={input}
            type="file"
            accept="image/*"
            onChange={({ target }) => (target.files?.[0] ? take(target.files[0]) : remove())}
            className="peer noscript:not-sr-only sr-only"
          />
          <label
            htmlFor={control.id}
            className={cn(
              buttonVariants({ variant: 'outline' }),
              'peer-focus-visible:outline-ring noscript:hidden w-full border-dashed peer-focus-visible:outline-3 peer-focus-visible:outline-offset-2',
            )}
          >
            <Camera aria-hidden />
            {text.choosePhoto}
          </label>
          {photo && <ChosenPhoto photo={photo} onRemove={removeChosen} />}
        </>
      )}
    </Field>
  );
}

function problemWith(file: File): 'fileType' | 'fileSize' | undefined {
  // The backend cannot clean SVG and TIFF, and refuses them.
  if (!/^image\/(?!svg|tiff)/.test(file.type) || file.size === 0) return 'fileType';
  if (file.size > maxPhotoBytes) return 'fileSize';
  return undefined;
}

function ChosenPhoto({ photo, onRemove }: { photo: File; onRemove: () => void }) {
  const text = useText('report');
  const [preview, setPreview] = useState<string>();

  useEffect(() => {
    const url = URL.createObjectURL(photo);
    setPreview(url);
    return () => URL.revokeObjectURL(url);
  }, [photo]);

  return (
    <div role="status" className="bg-muted flex items-center gap-3 rounded-lg p-3">
      {preview && (
        // Not every browser can show every format, such as HEIC.
        <img
          src={preview}
          alt=""
          onError={() => setPreview(undefined)}
          className="size-16 shrink-0 rounded-md object-cover"
        />
      )}
      <p className="min-w-0 flex-1">
        <span className="sr-only">{text.chosenPhoto}: </span>
        <span className="block truncate font-medium">{photo.name}</span>
        <span className="text-muted-foreground text-sm">{(photo.size / megabyte).toFixed(2)} MB</span>
      </p>
      <Button type="button" variant="ghost" size="icon" aria-label={text.removePhoto} onClick={onRemove}>
        <X aria-hidden />
      </Button>
    </div>
  );
}
