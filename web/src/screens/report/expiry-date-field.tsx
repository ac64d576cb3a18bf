import { CalendarDays } from 'lucide-react';
import { useRef, useState } from 'react';
import { Field } from '@/components/field';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/input';
import { useLanguage } from '@/i18n/language';
import { loadText, useText } from '@/i18n/text';
import { fullStyles } from '@/lib/full-styles';
import { inTime, partTimeout } from '@/lib/in-time';
import { parseExpiryDate } from './expiry-date';

type Calendar = typeof import('./expiry-calendar').ExpiryCalendar;

/** A date that can be typed or picked from a calendar, which is loaded when it is first opened. */
export function ExpiryDateField({ error }: { error?: string }) {
  const text = useText('report');
  const language = useLanguage();
  const input = useRef<HTMLInputElement>(null);
  const [{ Calendar }, setLoaded] = useState<{ Calendar?: Calendar }>({});
  const [open, setOpen] = useState(false);

  async function show() {
    const parts = Promise.all([import('./expiry-calendar'), fullStyles(), loadText(language, ['calendar'])]);
    const [{ ExpiryCalendar }] = await inTime(parts, partTimeout, 'The import of the calendar');
    setLoaded({ Calendar: ExpiryCalendar });
    setOpen(true);
  }

  function pick(iso: string) {
    const target = input.current;
    if (!target) return;
    target.value = iso;
    target.dispatchEvent(new Event('input', { bubbles: true })); // so that the draft is saved
  }

  const button = (
    <Button
      type="button"
      variant="outline"
      size="icon"
      aria-label={text.pickDate}
      aria-haspopup="dialog"
      aria-expanded={open}
      className="noscript:hidden shrink-0"
      onClick={Calendar ? undefined : () => void show().catch(() => input.current?.focus())}
    >
      <CalendarDays aria-hidden />
    </Button>
  );

  return (
    <Field name="expiry_date" label={text.expiryDate} hint={text.expiryHint} error={error}>
      {(control) => (
        <div className="flex gap-2">
          <Input
            {...control}
            ref={input}
            inputMode="text"
            autoComplete="off"
            maxLength={10}
            placeholder={text.datePlaceholder}
            onBlur={({ target }) => {
              target.value = parseExpiryDate(target.value) ?? target.value;
            }}
          />
          {Calendar ? (
            <Calendar
              open={open}
              onOpenChange={setOpen}
              value={() => input.current?.value ?? ''}
              onPick={pick}
              button={button}
            />
          ) : (
            button
          )}
        </div>
      )}
    </Field>
  );
}
