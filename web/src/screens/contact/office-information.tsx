import { Clock, MapPin, MessageCircleWarning } from 'lucide-react';
import { buttonVariants } from '@/components/ui/button';
import { useText } from '@/i18n/text';
import { whatsappLink } from '@/site-config';

export function OfficeInformation() {
  const { officeTitle, hours, locations, emergency } = useText('contact');
  return (
    <section className="page py-10 md:py-14" aria-labelledby="office">
      <h2 id="office">{officeTitle}</h2>
      <ul className="mt-6 grid gap-6 md:grid-cols-2 lg:grid-cols-3">
        <li className="flex gap-4">
          <Clock aria-hidden className="text-primary size-8 shrink-0" />
          <div>
            <h3>{hours.title}</h3>
            <p>{hours.days}</p>
            <p className="text-muted-foreground">{hours.content}</p>
          </div>
        </li>
        <li className="flex gap-4">
          <MapPin aria-hidden className="text-primary size-8 shrink-0" />
          <div>
            <h3>{locations.title}</h3>
            <p>{locations.somalia}</p>
            <p>{locations.toronto}</p>
          </div>
        </li>
        <li className="flex gap-4 md:max-lg:col-span-2">
          <MessageCircleWarning aria-hidden className="text-henna size-8 shrink-0" />
          <div className="md:max-lg:flex md:max-lg:flex-1 md:max-lg:flex-wrap md:max-lg:items-center md:max-lg:justify-between md:max-lg:gap-4">
            <div className="md:max-lg:flex-1 md:max-lg:basis-64">
              <h3>{emergency.title}</h3>
              <p>{emergency.content}</p>
            </div>
            <a
              href={whatsappLink()}
              className={buttonVariants({
                variant: 'henna',
                className: 'max-md:mt-3 md:max-lg:shrink-0 lg:mt-3',
              })}
            >
              {emergency.action}
            </a>
          </div>
        </li>
      </ul>
    </section>
  );
}
