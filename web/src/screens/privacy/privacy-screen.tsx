import { useText } from '@/i18n/text';
import { PageMeta } from '@/layout/page-meta';

export function PrivacyScreen() {
  const text = useText('privacy');
  return (
    <>
      <PageMeta title={text.title} description={text.description} />
      <h1>{text.title}</h1>
      <p>{text.description}</p>
    </>
  );
}
