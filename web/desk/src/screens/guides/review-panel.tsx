import { type Guide, reviewGuide } from '@desk/backend/guides';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { Field } from '@desk/components/field';
import { message } from '@desk/components/message';
import { Panel } from '@desk/components/panel';
import { Problem } from '@desk/components/problem';
import { shortDay } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { today } from '@desk/lib/local-day';
import { toast } from '@desk/lib/toast';
import { useAccess } from '@desk/session/access';
import { VerifyFactor } from '@desk/session/verify-factor';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Input } from '@/components/ui/input';
import { titleIn } from './guide-values';
import { ReviewBadge } from './review-badge';
import { yearAfter } from './review-state';

interface Props {
  guide: Guide;
  onReviewed: () => void;
}

/** Whether the guide is reviewed, and the sign-off, which needs a second factor at that moment. */
export function ReviewPanel({ guide, onReviewed }: Props) {
  const { text, language } = useLanguage();
  const { role, name, has_factor } = useAccess();
  const [read, setRead] = useState<Guide>(); // a change of a colleague does not reach the open dialog
  return (
    <Panel title={text.guides.review} aside={<ReviewBadge guide={guide} />}>
      {guide.reviewed_on ? (
        <p>
          {text.guides.reviewedBy(
            `${guide.reviewed_by}, ${guide.reviewed_role}`,
            shortDay(language, guide.reviewed_on),
            shortDay(language, guide.review_due ?? ''),
          )}
        </p>
      ) : (
        <p className="text-muted-foreground">{text.guides.notReviewedHelp}</p>
      )}
      {role !== 'editor' && (
        <div className="mt-3 flex flex-wrap items-center gap-3">
          <Button disabled={!has_factor || !name} onClick={() => setRead(guide)}>
            {text.guides.signOff}
          </Button>
          {(!has_factor || !name) && (
            <p className="text-muted-foreground text-sm">
              {text.guides.needsFactor}{' '}
              <Link className="text-primary inline-flex min-h-[24px] items-center underline" to="/account">
                {text.nav.account}
              </Link>
            </p>
          )}
        </div>
      )}
      {read && (
        <SignOff
          guide={read}
          onClose={() => setRead(undefined)}
          onDone={() => {
            setRead(undefined);
            onReviewed();
          }}
        />
      )}
    </Panel>
  );
}

/** Asks for the profession and the next review, and then for the second factor, which signs. */
function SignOff({ guide, onClose, onDone }: { guide: Guide; onClose: () => void; onDone: () => void }) {
  const { text, language } = useLanguage();
  const { name } = useAccess();
  const [profession, setProfession] = useState('');
  const [due, setDue] = useState(yearAfter(today()));
  const [error, setError] = useState('');
  const sign = async () => {
    const done = await attempt(text, () => reviewGuide(guide, profession.trim(), due));
    if (done === false) toast.error(text.resources.stale);
    if (done) toast.success(text.guides.signed);
    if (done !== undefined) onDone();
  };
  const ready = profession.trim() !== '' && due > today();
  return (
    <Dialog title={text.guides.signOffTitle(titleIn(language, guide))} onClose={onClose}>
      <p>{text.guides.signOffHelp(name ?? '')}</p>
      <Problem text={error} />
      <Field label={text.guides.profession}>
        {(props) => (
          <Input
            {...props}
            required
            maxLength={100}
            value={profession}
            onChange={(e) => setProfession(e.target.value)}
          />
        )}
      </Field>
      <Field label={text.guides.nextReview}>
        {(props) => (
          <Input {...props} type="date" required value={due} onChange={(e) => setDue(e.target.value)} />
        )}
      </Field>
      {ready && (
        <VerifyFactor onDone={() => void sign()} onError={(failure) => setError(message(failure, text))} />
      )}
      <Button variant="outline" onClick={onClose}>
        {text.cancel}
      </Button>
    </Dialog>
  );
}
