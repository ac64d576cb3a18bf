import { changeGuide, type Guide } from '@desk/backend/guides';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Conflicts } from '@desk/components/conflicts';
import { Form } from '@desk/components/form';
import { Panel } from '@desk/components/panel';
import { Problem } from '@desk/components/problem';
import { ScreenHead } from '@desk/components/screen-head';
import { useLanguage } from '@desk/i18n/language';
import { toast } from '@desk/lib/toast';
import { useAccess } from '@desk/session/access';
import { useForm } from '@desk/session/use-form';
import { useMemo, useState } from 'react';
import { Link } from 'react-router-dom';
import { GuideFields } from './guide-fields';
import { GuideFiles } from './guide-files';
import { changesOf, guideValues, titleIn } from './guide-values';
import { ReviewPanel } from './review-panel';

interface Props {
  guide: Guide;
  onChanged: () => void;
}

/** One guide: its review, its texts, and its files. */
export function GuidePanel({ guide, onChanged }: Props) {
  const { text, language } = useLanguage();
  const { role } = useAccess();
  const present = useMemo(() => guideValues(guide), [guide]);
  const { values, both, theirs, drafted, set, settle, forget } = useForm(`guide:${guide.slug}`, present);
  const changes = changesOf(theirs, values);
  const [error, setError] = useState('');
  const submit = async () => {
    if (both.length > 0) return setError(text.resources.decide);
    setError('');
    const saved = await attempt(text, () => changeGuide(guide, changes));
    if (saved === false) setError(text.resources.stale);
    if (saved) {
      forget();
      toast.success(text.saved);
    }
    if (saved !== undefined) onChanged();
  };
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <ScreenHead title={titleIn(language, guide)}>
        <Link className="text-primary underline" to="/guides">
          {text.guides.title}
        </Link>
      </ScreenHead>
      <ReviewPanel guide={guide} onReviewed={onChanged} />
      <GuideFiles guide={guide} editable={role !== 'reviewer'} />
      {role !== 'reviewer' && (
        <Panel title={text.guides.texts}>
          <Form onSubmit={submit} className="flex flex-col gap-4">
            <Problem text={error} />
            <Conflicts both={both} mine={values} theirs={theirs} settle={settle} />
            <GuideFields values={values} set={set} />
            <p className="text-muted-foreground text-sm">{text.guides.textsHelp}</p>
            <div className="flex flex-wrap items-center gap-3">
              <Button type="submit" disabled={Object.keys(changes).length === 0}>
                {text.save}
              </Button>
              {drafted && (
                <>
                  <Button variant="outline" onClick={forget}>
                    {text.cancel}
                  </Button>
                  <span className="text-muted-foreground text-sm">{text.draft}</span>
                </>
              )}
            </div>
          </Form>
        </Panel>
      )}
    </div>
  );
}
