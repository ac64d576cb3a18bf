import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { DayPicker } from 'react-day-picker';
import { Popover, PopoverContent, PopoverTrigger } from '@/components/ui/popover';
import { longDate, monthName, weekdayName } from '@/i18n/dates';
import { useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { dayOf, isoDay } from './expiry-date';

interface ExpiryCalendarProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  value: () => string;
  onPick: (iso: string) => void;
  /** Opens and closes the calendar, and gets the focus back when it closes. */
  button: ReactNode;
}

const square = 'grid size-11 place-items-center rounded-lg';

export function ExpiryCalendar({ open, onOpenChange, value, onPick, button }: ExpiryCalendarProps) {
  const language = useLanguage();
  const text = useText('report');
  const words = useText('calendar');
  const selected = dayOf(value());
  const year = new Date().getFullYear();

  return (
    <Popover open={open} onOpenChange={onOpenChange}>
      <PopoverTrigger asChild>{button}</PopoverTrigger>
      <PopoverContent aria-label={text.pickDate}>
        <DayPicker
          mode="single"
          autoFocus
          lang={language}
          selected={selected}
          defaultMonth={selected}
          captionLayout="dropdown"
          startMonth={new Date(year - 15, 0)}
          endMonth={new Date(year + 15, 11)}
          weekStartsOn={language === 'so' ? 6 : 0}
          onSelect={(day) => {
            if (day) onPick(isoDay(day));
            onOpenChange(false);
          }}
          formatters={{
            formatMonthDropdown: (month) => monthName(language, month),
            formatWeekdayName: (day) => weekdayName(language, day).slice(0, 2),
            formatCaption: (month) => `${monthName(language, month)} ${month.getFullYear()}`,
          }}
          labels={{
            labelDayButton: (day) => `${weekdayName(language, day)}, ${longDate(language, day)}`,
            labelWeekday: (day) => weekdayName(language, day),
            labelNext: () => words.nextMonth,
            labelPrevious: () => words.previousMonth,
            labelMonthDropdown: () => words.month,
            labelYearDropdown: () => words.year,
            labelGrid: (month) => `${monthName(language, month)} ${month.getFullYear()}`,
            labelNav: () => text.pickDate,
          }}
          components={{ Chevron }}
          classNames={{
            // Seven days of 44 px, less on the narrowest phones.
            months: 'relative w-77 max-w-[calc(100vw-3rem)]',
            month_grid: 'w-full table-fixed',
            nav: 'absolute inset-x-0 top-0 flex justify-between',
            button_previous: `${square} hover:bg-muted`,
            button_next: `${square} hover:bg-muted`,
            month_caption: 'mx-11 flex h-11 items-center justify-center',
            dropdowns: 'relative flex min-w-0 gap-1',
            dropdown: 'bg-card h-11 min-w-0 rounded-lg border px-1',
            dropdown_root: 'contents',
            caption_label: 'hidden',
            weekday: 'text-muted-foreground text-sm font-normal',
            day_button: `${square} w-full hover:bg-muted`,
            selected: '[&>button]:bg-primary [&>button]:text-primary-foreground',
            today: 'font-bold',
            outside: 'text-muted-foreground',
          }}
        />
      </PopoverContent>
    </Popover>
  );
}

function Chevron({ orientation }: { orientation?: string }) {
  return orientation === 'left' ? <ChevronLeft aria-hidden /> : <ChevronRight aria-hidden />;
}
