import { useEffect, useState } from 'react';
import { pageText } from '@/backend/page-texts';

interface GuideReviewProps {
  /** guide-review/SLUG/LANGUAGE/DATE: functions/page-texts. */
  name: string;
  /** What is shown until a pharmacist has signed the guide off in the desk. */
  none: string;
}

/**
 * Who reviewed the guide, and when. In a prerendered page the gateway puts the text in place of the name, and it stays when
 * the page is hydrated. Otherwise nothing is shown until the reply: a reviewed guide must not say that it is not.
 */
export function GuideReview({ name, none }: GuideReviewProps) {
  const [review, setReview] = useState('');
  useEffect(() => {
    let left = false;
    pageText(name).then(
      (text) => !left && setReview(text ?? none),
      () => {},
    );
    return () => {
      left = true;
    };
  }, [name, none]);
  return (
    <strong suppressHydrationWarning>
      {typeof document === 'undefined' ? `__TEXT:${name}|${none}__` : review}
    </strong>
  );
}
