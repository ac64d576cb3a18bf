import { enrolPasskey, listFactors, passkeysWork, removeFactor } from '@desk/backend/second-factors';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { Panel } from '@desk/components/panel';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { EnrolFactor } from '@desk/session/enrol-factor';
import { useState } from 'react';

/** The second factors of the person, which can be added and removed. */
export function Factors() {
  const text = useText();
  const { reload: reloadAccess } = useAccess();
  const { data, error, reload } = useLoad(listFactors, 'factors');
  const [adding, setAdding] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const done = () => {
    setAdding(false);
    reload();
    void reloadAccess();
  };
  return (
    <Panel title={text.account.factors}>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p className="text-muted-foreground">{text.account.noFactor}</p>}
      <ul className="divide-y">
        {data?.map((factor) => (
          <li key={factor.id} className="flex items-center justify-between py-1.5">
            <span>{factor.kind === 'totp' ? text.account.app : text.account.passkey}</span>
            <Button
              variant="outline"
              onClick={() => attempt(text, () => removeFactor(factor.id), text.saved).then(done)}
            >
              {text.account.remove}
            </Button>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button variant="outline" onClick={() => setAdding(true)}>
          {text.account.addApp}
        </Button>
        {passkeysWork() && (
          <Button variant="outline" onClick={() => attempt(text, enrolPasskey, text.saved).then(done)}>
            {text.account.addPasskey}
          </Button>
        )}
      </div>
      {adding && (
        <Dialog title={text.account.addApp} onClose={() => setAdding(false)}>
          {problem !== undefined && <Failure error={problem} />}
          <EnrolFactor onDone={done} onError={setProblem} />
        </Dialog>
      )}
    </Panel>
  );
}
