import { readDownloads, readFigures } from '@desk/backend/figures';
import { Failure } from '@desk/components/failure';
import { dense } from '@desk/components/field';
import { Loading } from '@desk/components/loading';
import { ScreenHead } from '@desk/components/screen-head';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { useState } from 'react';
import { cn } from '@/components/cn';
import { NativeSelect } from '@/components/ui/input';
import { DownloadTable } from './download-table';
import { ExportReports } from './export-reports';
import { periodStart } from './period';
import { ReportFigures } from './report-figures';

/** Numbers of reports and downloads, without personal data. */
export default function FiguresScreen() {
  const text = useText();
  const { role } = useAccess();
  const [months, setMonths] = useState(12);
  const since = periodStart(months);
  const figures = useLoad(() => readFigures(since), since);
  const downloads = useLoad(() => readDownloads(since), since);
  return (
    <div className="flex max-w-6xl flex-col gap-4">
      <ScreenHead title={text.figures.title}>
        <NativeSelect
          aria-label={text.figures.period}
          className={cn('w-auto!', dense)}
          value={months}
          onChange={(e) => setMonths(Number(e.target.value))}
        >
          {[3, 12, 36].map((n) => (
            <option key={n} value={n}>
              {text.figures.months(n)}
            </option>
          ))}
        </NativeSelect>
      </ScreenHead>
      {figures.error ? (
        <Failure error={figures.error} retry={figures.reload} />
      ) : figures.data ? (
        <ReportFigures data={figures.data} since={since}>
          {role === 'owner' && <ExportReports />}
        </ReportFigures>
      ) : (
        <Loading />
      )}
      {downloads.data && downloads.data.length > 0 && <DownloadTable data={downloads.data} />}
    </div>
  );
}
