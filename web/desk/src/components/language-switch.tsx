import { useLanguage } from '@desk/i18n/language';
import { type Language, languageNames, otherLanguage } from '@/i18n/language';
import { Button } from './button';

/** The button of the other language, in that language. */
export function LanguageSwitch({ onChoose }: { onChoose?: (language: Language) => void }) {
  const { language, setLanguage } = useLanguage();
  const other = otherLanguage(language);
  const choose = () => {
    setLanguage(other);
    onChoose?.(other);
  };
  return (
    <Button variant="ghost" lang={other} onClick={choose}>
      {languageNames[other]}
    </Button>
  );
}
