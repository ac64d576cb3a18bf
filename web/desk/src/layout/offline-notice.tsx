import { useText } from '@desk/i18n/language';
import { useOnline } from '@/components/use-online';

export function OfflineNotice() {
  const text = useText();
  const online = useOnline();
  return (
    <div role="status">
      {!online && <p className="bg-sun-soft text-sun-ink mb-3 rounded-lg p-2">{text.offline}</p>}
    </div>
  );
}
