import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';

/** The photo in its own dialog, up to four times as wide. */
export function PhotoZoom({ url, onClose }: { url: string; onClose: () => void }) {
  const text = useText();
  const [scale, setScale] = useState(1);
  return (
    <Dialog title={text.report.photo} onClose={onClose} wide>
      <div className="flex gap-2">
        <Button variant="outline" aria-label="+" onClick={() => setScale(Math.min(4, scale * 1.5))}>
          +
        </Button>
        <Button variant="outline" aria-label="−" onClick={() => setScale(Math.max(1, scale / 1.5))}>
          −
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll the picture */}
      <section className="max-h-[65dvh] overflow-auto" tabIndex={0} aria-label={text.report.photo}>
        <img src={url} alt="" style={{ width: `${scale * 100}%`, maxWidth: 'none' }} />
      </section>
    </Dialog>
  );
}
