import type { Change } from '@desk/backend/change-reports';
import type { Report } from '@desk/backend/reports';
import { useState } from 'react';
import { useChanges } from './changes';
import { known } from './known';

/** A report as its member has changed it, and the function that changes it. */
export interface Case {
  report: Report;
  change: (set: Change, done: string) => void;
}

/** Shows a change at once, until the report is read again or the change fails. */
export function useCase(report: Report): Case {
  const { change } = useChanges();
  const [own, setOwn] = useState<{ of: Report; set: Change }>();
  const { duplicate_of: _, ...set } = own?.of === report ? own.set : {};
  const shown = { ...report, ...set };
  return {
    report: shown,
    change: (next, done) => {
      setOwn({ of: report, set: { ...set, ...next } });
      void change([known(shown)], next, done).then((kept) => kept || setOwn(undefined));
    },
  };
}
