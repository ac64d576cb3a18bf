import type { Guide } from '@desk/backend/guides';
import { shortDay } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { today } from '@desk/lib/local-day';
import { cn } from '@/components/cn';
import { reviewState } from './review-state';

const tones = {
  none: 'bg-sun-soft text-sun-ink',
  due: 'bg-sun-soft text-sun-ink',
  reviewed: 'bg-done-soft text-done',
};

/** Whether a guide is reviewed, and until when. */
export function ReviewBadge({ guide }: { guide: Guide }) {
  const { text, language } = useLanguage();
  const state = reviewState(guide, today());
  return (
    <span className={cn('rounded px-1.5 py-0.5 text-xs font-semibold', tones[state])}>
      {state === 'none' && text.guides.notReviewed}
      {state === 'due' && text.guides.reviewDue}
      {state === 'reviewed' && text.guides.reviewedUntil(shortDay(language, guide.review_due ?? ''))}
    </span>
  );
}
