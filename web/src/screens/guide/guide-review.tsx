import { useEffect, useState } from 'react';
import { pageText } from '@/backend/page-texts';

interface GuideReviewProps {
  /** guide-review/SLUG/LANGUAGE/DATE: functions/page-texts. */
  name: string;
  /** What is shown until a pharmacist has signed the guide off in the desk. */
  none: string;
}

/** Who reviewed the guide, and when. In a prerendered page the gateway puts the text in place of the name. */
export function GuideReview({ name, none }: GuideReviewProps) {
  const [review, setReview] = useState<string>();
  useEffect(() => {
    let left = false;
    pageText(name).then(
      (text) => !left && setReview(text),
      () => {},
    );
    return () => {
      left = true;
    };
  }, [name]);
  return <strong>{typeof document === 'undefined' ? `__TEXT:${name}|${none}__` : (review ?? none)}</strong>;
}
