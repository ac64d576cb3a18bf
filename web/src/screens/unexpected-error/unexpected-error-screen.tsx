import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';

/** Shown without the layout, which may be the part that failed. Its link loads a new document. */
export function UnexpectedErrorScreen({ error }: { error: unknown }) {
  const language = useLanguage();
  const text = useText('unexpected-error');
  return (
    <main className="page py-12">
      <title>{text.title}</title>
      <h1>{text.title}</h1>
      <pre className="bg-muted mt-4 rounded-lg p-4 whitespace-pre-wrap">
        {error instanceof Error ? error.message : String(error)}
      </pre>
      <a href={pathIn(language, '/')} className={buttonVariants({ className: 'mt-6' })}>
        {text.home}
      </a>
    </main>
  );
}
