import { readClusters } from '@desk/backend/clusters';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { Panel } from '@desk/components/panel';
import { ScreenHead } from '@desk/components/screen-head';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { GroupCard } from './group-card';
import { RisingList } from './rising-list';

const kinds = ['batch', 'shop', 'place'] as const;

/** Products that are reported more often than before, and groups of reports that belong together. */
export default function ClustersScreen() {
  const text = useText();
  const { data, error, reload } = useLoad(readClusters, 'clusters');
  return (
    <div className="flex max-w-5xl flex-col gap-4">
      <ScreenHead title={text.clusters.title} />
      <p className="text-muted-foreground max-w-prose">{text.clusters.intro}</p>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data && (
        <>
          <Panel title={text.clusters.rising}>
            <RisingList rising={data.rising} />
            <p className="text-muted-foreground mt-3 text-sm">
              {text.clusters.all(data.all.now, data.all.before)} {text.clusters.method}
            </p>
          </Panel>
          {kinds.map((kind) => {
            const groups = data.groups.filter((group) => group.kind === kind);
            return (
              <Panel key={kind} title={text.clusters.kinds[kind]}>
                {groups.length === 0 && <p className="text-muted-foreground">{text.clusters.none}</p>}
                <ul className="grid gap-3 md:grid-cols-2">
                  {groups.map((group) => (
                    <GroupCard
                      key={group.reports.map(({ id }) => id).join()}
                      group={group}
                      onLinked={reload}
                    />
                  ))}
                </ul>
              </Panel>
            );
          })}
        </>
      )}
    </div>
  );
}
