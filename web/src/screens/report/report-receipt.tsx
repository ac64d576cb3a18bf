import { CircleCheck, Copy, MessageCircle } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Receipt } from '@/backend/reports';
import { Button, buttonVariants } from '@/components/ui/button';
import { useText } from '@/i18n/text';

/** Shown above the form after success, with the reference to keep. */
export function ReportReceipt({ receipt }: { receipt: Receipt }) {
  const success = useText('receipt');
  const { opensInNewTab } = useText('layout');
  const box = useRef<HTMLDivElement>(null);
  const [copied, setCopied] = useState(false);
  // At the top of the screen, away from the toast.
  useEffect(() => {
    box.current?.focus({ preventScroll: true });
    box.current?.scrollIntoView({ block: 'start' });
  }, []);

  const message = success.shareMessage.replace('{reference}', receipt.reference);
  return (
    <div
      ref={box}
      tabIndex={-1}
      data-receipt
      className="bg-primary-soft grid gap-3 rounded-2xl border p-4 outline-none md:p-6"
    >
      <h2 className="flex items-center gap-2">
        <CircleCheck aria-hidden className="text-primary size-7 shrink-0" />
        {success.title}
      </h2>
      <p>
        {success.reference}:{' '}
        <strong className="block font-mono text-[clamp(1rem,7vw,1.5rem)] whitespace-nowrap select-all sm:tracking-wide">
          {receipt.reference}
        </strong>
      </p>
      <p>{success.keep}</p>
      {receipt.photo_attached === false && <p className="font-semibold">{success.withoutPhoto}</p>}
      <div className="flex flex-wrap gap-3">
        <Button
          type="button"
          variant="outline"
          onClick={() => void navigator.clipboard?.writeText(receipt.reference).then(() => setCopied(true))}
        >
          <Copy aria-hidden />
          {copied ? success.copied : success.copy}
        </Button>
        {/* Not inside the button: a live region there would replace the button's name. */}
        <span role="status" className="sr-only">
          {copied && success.copied}
        </span>
        <a
          href={`https://wa.me/?text=${encodeURIComponent(message)}`}
          target="_blank"
          rel="noreferrer"
          className={buttonVariants({ variant: 'outline' })}
        >
          <MessageCircle aria-hidden />
          {success.share}
          <span className="sr-only"> ({opensInNewTab})</span>
        </a>
      </div>
      <p className="text-muted-foreground text-sm">{success.shareTrace}</p>
    </div>
  );
}
