import type { Row } from '@desk/backend/reports';
import { useText } from '@desk/i18n/language';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ListRow } from './list-row';
import { rowHeight, rowsInView, stepsOf, topThatShows } from './rows-in-view';

interface Props {
  rows: Row[];
  done: boolean;
  total: number | undefined;
  selected: string | undefined;
  names: Map<string, string>;
  onSelect: (reference: string) => void;
  onStep: (steps: number) => void;
  onEnd: () => void;
}

/** A list that draws the rows in view alone, so that 20,000 reports scroll as ten do. */
export function ReportList({ rows, done, total, selected, names, onSelect, onStep, onEnd }: Props) {
  const text = useText();
  const box = useRef<HTMLDivElement>(null);
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
  }, []);

  useEffect(() => {
    if (!done && rows.length > 0 && last >= rows.length - 5) onEnd();
  }, [done, last, rows.length, onEnd]);

  const index = rows.findIndex((row) => row.reference === selected);
  useEffect(() => {
    const element = box.current;
    if (!element || index < 0) return;
    element.scrollTop = topThatShows(index, { top: element.scrollTop, height: element.clientHeight });
  }, [index]);

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
        {rows.slice(first, last).map((row, i) => (
          <ListRow
            key={row.id}
            row={row}
            position={first + i}
            total={total ?? rows.length}
            current={row.reference === selected}
            assignee={row.assigned_to ? (names.get(row.assigned_to) ?? text.unknown) : ''}
            onSelect={onSelect}
          />
        ))}
      </div>
    </div>
  );
}
