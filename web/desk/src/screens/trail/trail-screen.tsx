import type { TrailFilter } from '@desk/backend/trail';
import { Button } from '@desk/components/button';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { ScreenHead } from '@desk/components/screen-head';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { Filters } from './filters';
import { Lines } from './lines';
import { useTrail } from './use-trail';

/** The audit trail of the staff, newest first. */
export default function TrailScreen() {
  const text = useText();
  const [filter, setFilter] = useState<TrailFilter>({});
  const { rows, done, error, load } = useTrail(filter);
  return (
    <div className="flex max-w-5xl flex-col gap-4">
      <ScreenHead title={text.trail.title} />
      <p className="text-muted-foreground text-pretty">{text.trail.intro}</p>
      <Filters filter={filter} onChange={setFilter} />
      {error !== undefined && <Failure error={error} retry={() => load()} />}
      {!rows && !error && <Loading />}
      {rows?.length === 0 && <p>{text.trail.empty}</p>}
      {rows && rows.length > 0 && <Lines rows={rows} />}
      {rows && !done && (
        <Button variant="outline" className="self-start" onClick={() => load(rows.at(-1)?.id)}>
          {text.trail.older}
        </Button>
      )}
    </div>
  );
}
