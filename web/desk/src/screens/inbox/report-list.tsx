import type { Row } from '@desk/backend/reports';
import { useText } from '@desk/i18n/language';
import { useStaffNames } from '@desk/session/staff-names';
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ListRow } from './list-row';
import { rowHeight, rowsInView, stepsOf, topThatShows } from './rows-in-view';

interface Props {
  rows: Row[];
  done: boolean;
  total: number | undefined;
  list: RefObject<HTMLDivElement | null>;
  selected: string | undefined;
  checked: ReadonlySet<string>;
  onCheck: (id: string) => void;
  onSelect: (reference: string) => void;
  onStep: (steps: number) => void;
  onEnd: () => void;
}

/** A list that draws the rows in view alone, so that 20,000 reports scroll as ten do. */
export function ReportList({ rows, done, total, list: box, selected, onStep, onEnd, ...row }: Props) {
  const text = useText();
  const names = useStaffNames();
  const [view, setView] = useState({ top: 0, height: 600 });
  const { first, last } = rowsInView(view, rows.length);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [box]);

  useEffect(() => {
    if (!done && rows.length > 0 && last >= rows.length - 5) onEnd();
  }, [done, last, rows.length, onEnd]);

  const index = rows.findIndex(({ reference }) => reference === selected);
  const found = index >= 0;
  const place = useRef(index);
  place.current = index;
  // Only a new choice scrolls: when rows arrive above the chosen one, the list stays where it is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the choice, and whether it is loaded
  useEffect(() => {
    const element = box.current;
    if (!element || place.current < 0) return;
    element.scrollTop = topThatShows(place.current, { top: element.scrollTop, height: element.clientHeight });
  }, [selected, found]);

  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!matchMedia('(min-width: 64rem)').matches) return; // a report takes the place of the list, and keys scroll
    const steps = stepsOf(event.key, view);
    if (!steps) return;
    event.preventDefault();
    onStep(steps);
  };
  return (
    <div
      ref={box}
      role="listbox"
      tabIndex={0}
      aria-label={text.inbox.title}
      aria-activedescendant={index >= first && index < last ? `row-${rows[index]?.id}` : undefined}
      onKeyDown={press}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
    >
      <div className="relative" role="presentation" style={{ height: rows.length * rowHeight }}>
        {rows.slice(first, last).map((report, i) => (
          <ListRow
            key={report.id}
            report={report}
            position={first + i}
            total={Math.max(total ?? 0, rows.length)}
            current={report.reference === selected}
            assignee={report.assigned_to ? (names.get(report.assigned_to) ?? text.unknown) : ''}
            {...row}
          />
        ))}
      </div>
    </div>
  );
}
