import { readSystem } from '@desk/backend/system';
import { Button } from '@desk/components/button';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { ScreenHead } from '@desk/components/screen-head';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { Backups } from './backups';
import { Checks } from './checks';
import { FailedJobs } from './failed-jobs';
import { Functions } from './functions';
import { Mail } from './mail';
import { Sizes } from './sizes';

/** The state of the installation, and the few things that an owner does with it. */
export default function SystemScreen() {
  const text = useText();
  const { data, error, reload } = useLoad(readSystem, 'system');
  const [times, setTimes] = useState(0); // how often the page was refreshed
  const refresh = () => {
    reload();
    setTimes(times + 1);
  };
  return (
    <div className="flex max-w-5xl flex-col gap-4">
      <ScreenHead title={text.system.title}>
        <Button variant="outline" onClick={refresh}>
          {text.refresh}
        </Button>
      </ScreenHead>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <Checks times={times} />
      <Backups times={times} />
      {data ? <FailedJobs jobs={data.jobs} onDone={reload} /> : !error && <Loading />}
      <Mail />
      <Functions times={times} />
      {data && <Sizes state={data} />}
    </div>
  );
}
