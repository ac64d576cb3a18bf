import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { Toaster as Sonner, type ToasterProps, toast } from 'sonner';
import { useText } from '@/i18n/text';

const icon = 'size-5';

function Toaster(props: ToasterProps) {
  const { notifications, dismiss } = useText('layout');
  return (
    <Sonner
      theme="light" // the site's own colours have a dark mode; sonner's dark theme would override them
      closeButton
      expand
      duration={10_000}
      style={{ zIndex: 45 }} // above the header, below lists and dialogs
      containerAriaLabel={notifications}
      icons={{
        success: <CircleCheck aria-hidden className={icon} />,
        error: <CircleAlert aria-hidden className={icon} />,
        close: <X aria-hidden className={icon} />,
      }}
      toastOptions={{
        unstyled: true,
        closeButtonAriaLabel: dismiss,
        classNames: {
          toast: 'raised flex w-(--width) gap-3 rounded-2xl border p-4',
          success: 'bg-primary-soft border-primary [&_[data-icon]]:text-primary',
          error: 'bg-destructive-soft border-destructive [&_[data-icon]]:text-destructive',
          icon: 'mt-0.5',
          content: 'min-w-0 flex-1',
          title: 'font-semibold',
          closeButton: 'hover:bg-muted order-last -m-2 grid size-11 shrink-0 place-items-center rounded-lg',
        },
      }}
      {...props}
    />
  );
}

export { Toaster, toast };
