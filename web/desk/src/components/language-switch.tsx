import { useLanguage } from '@desk/i18n/language';
import { languageNames, otherLanguage } from '@/i18n/language';
import { Button } from './button';

/** The button of the other language, in that language. */
export function LanguageSwitch() {
  const { language, setLanguage } = useLanguage();
  const other = otherLanguage(language);
  return (
    <Button variant="ghost" lang={other} onClick={() => setLanguage(other)}>
      {languageNames[other]}
    </Button>
  );
}
