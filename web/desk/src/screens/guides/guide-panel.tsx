import { changeGuide, type Guide, type GuideValues } from '@desk/backend/guides';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { ScreenHead } from '@desk/components/screen-head';
import { useLanguage } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { useDraft } from '@desk/session/use-draft';
import { type FormEvent, useState } from 'react';
import { Link } from 'react-router-dom';
import { toast } from 'sonner';
import { cleanGuide } from './clean-guide';
import { GuideFields } from './guide-fields';
import { GuideFiles } from './guide-files';
import { ReviewPanel } from './review-panel';

const unchanged: Partial<GuideValues> = {};

interface Props {
  guide: Guide;
  onChanged: () => void;
}

/** One guide: its review, its texts, and its files. */
export function GuidePanel({ guide, onChanged }: Props) {
  const { text, language } = useLanguage();
  const { role } = useAccess();
  // What the member has changed: the other values are those of the guide now, also after a change of a colleague.
  const [changed, keep, drafted] = useDraft<Partial<GuideValues>>(`guide:${guide.slug}`, unchanged);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const saved = await attempt(text, () => changeGuide(guide, cleanGuide(changed)));
    setBusy(false);
    if (saved === false) toast.error(text.resources.stale);
    if (saved) {
      keep(unchanged);
      toast.success(text.saved);
    }
    if (saved !== undefined) onChanged();
  };
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4">
      <ScreenHead title={language === 'so' ? (guide.title_so ?? guide.title) : guide.title}>
        <Link className="text-primary underline" to="/guides">
          {text.guides.title}
        </Link>
      </ScreenHead>
      <ReviewPanel guide={guide} onReviewed={onChanged} />
      <GuideFiles guide={guide} editable={role !== 'reviewer'} />
      {role !== 'reviewer' && (
        <Panel title={text.guides.texts}>
          <form onSubmit={submit} className="flex flex-col gap-4">
            <GuideFields
              values={{ ...guide, ...changed }}
              set={(change) => keep({ ...changed, ...change })}
            />
            <p className="text-muted-foreground text-sm">{text.guides.textsHelp}</p>
            <div className="flex flex-wrap items-center gap-3">
              <Button type="submit" disabled={busy || changed === unchanged}>
                {text.save}
              </Button>
              {drafted && <span className="text-muted-foreground text-sm">{text.draft}</span>}
            </div>
          </form>
        </Panel>
      )}
    </div>
  );
}
