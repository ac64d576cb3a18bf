import { useText } from '@desk/i18n/language';

export function Loading() {
  return (
    <p role="status" className="text-muted-foreground p-4">
      {useText().loading}
    </p>
  );
}
