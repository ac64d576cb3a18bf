import { Mail, MessageCircle, ThumbsUp } from 'lucide-react';
import { PageHero } from '@/components/page-hero';
import { buttonVariants } from '@/components/ui/button';
import { useText } from '@/i18n/text';
import { PhonePicture } from '@/illustrations/phone-picture';
import { PageMeta } from '@/layout/page-meta';
import { emailLink, site, whatsappLink } from '@/site-config';
import { OfficeInformation } from './office-information';
import { ReportSection } from './report-section';

export function ContactScreen() {
  const text = useText('contact');
  const { email, whatsapp, facebook } = text.channels;
  const channels = [
    { ...email, href: emailLink, Icon: Mail, colors: 'bg-henna-soft text-henna' },
    { ...whatsapp, href: whatsappLink(), Icon: MessageCircle, colors: 'bg-primary-soft text-primary' },
    { ...facebook, href: site.facebookUrl, Icon: ThumbsUp, colors: 'bg-sun-soft text-sun-ink' },
  ];

  return (
    <>
      <PageMeta title={text.title} description={text.description} image="contact" />
      <PageHero title={text.heading} lead={text.lead} picture={<PhonePicture />}>
        <a href="#report" className={buttonVariants({ variant: 'outline' })}>
          {text.scrollToReport}
        </a>
      </PageHero>
      <ul className="page grid gap-4 md:grid-cols-3">
        {channels.map(({ title, content, action, href, Icon, colors }) => (
          <li key={title}>
            <a
              href={href}
              className="bg-card flex h-full gap-4 rounded-2xl border p-5 hover:border-primary max-md:flex-wrap md:flex-col"
            >
              <span className={`h-fit w-fit rounded-xl p-3 ${colors}`}>
                <Icon aria-hidden className="size-7" />
              </span>
              <span className="grid flex-1 content-start gap-1 max-md:basis-40">
                <strong className="text-lg">{title}</strong>
                <span className="text-muted-foreground">{content}</span>
                <span className="text-primary font-semibold underline">{action}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      <OfficeInformation />
      <ReportSection />
    </>
  );
}
