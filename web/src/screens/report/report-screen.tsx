import { Camera, Lock, type LucideIcon, MessageCircle, Siren } from 'lucide-react';
import type { ReactNode } from 'react';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert';
import { buttonVariants } from '@/components/ui/button';
import { Card, CardDescription, CardTitle } from '@/components/ui/card';
import { WithNumbers } from '@/components/with-numbers';
import { useText } from '@/i18n/text';
import { PageMeta } from '@/layout/page-meta';
import { whatsappLink } from '@/site-config';
import { ReportForm } from './report-form';
import { useReceipt } from './use-delivery';

export function ReportScreen() {
  const text = useText('report');
  const { opensInNewTab } = useText('layout');
  const receipt = useReceipt();

  return (
    <div className="page grid gap-6 pt-8 md:pt-12">
      <PageMeta title={text.title} description={text.description} image="report" />
      <div className="prose-width">
        <h1>{text.title}</h1>
        <p className="text-muted-foreground mt-3 text-lg">{text.description}</p>
      </div>
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,22rem)] lg:grid-rows-[auto_1fr]">
        <Alert variant="destructive" className="lg:col-start-2">
          <Siren aria-hidden />
          <AlertTitle>{text.emergencyTitle}</AlertTitle>
          <AlertDescription>
            <p>{text.emergency}</p>
            <ul className="mt-2">
              {text.emergencyNumbers.map((numbers) => (
                <li key={numbers} className="border-destructive/25 border-t py-2.5">
                  <WithNumbers text={numbers} className="-my-2.5 inline-block min-w-11 py-2.5" />
                </li>
              ))}
            </ul>
          </AlertDescription>
        </Alert>
        <div className="grid gap-6 lg:col-start-1 lg:row-span-2 lg:row-start-1">
          {receipt}
          <Card>
            <h2>{text.formTitle}</h2>
            <p className="text-muted-foreground mb-3">{text.requiredNote}</p>
            <ReportForm />
          </Card>
        </div>
        <aside className="grid gap-4 lg:col-start-2">
          <SideCard icon={MessageCircle} title={text.whatsapp.title} text={text.whatsapp.text}>
            <a
              href={whatsappLink(text.whatsapp.message)}
              target="_blank"
              rel="noreferrer"
              className={buttonVariants({ variant: 'outline' })}
            >
              <MessageCircle aria-hidden />
              {text.whatsapp.button}
              <span className="sr-only"> ({opensInNewTab})</span>
            </a>
          </SideCard>
          <SideCard icon={Camera} title={text.evidence.title} text={text.evidence.text} />
          <SideCard icon={Lock} title={text.confidential.title} text={text.confidential.text} />
        </aside>
      </div>
    </div>
  );
}

function SideCard({
  icon: Icon,
  title,
  text,
  children,
}: {
  icon: LucideIcon;
  title: string;
  text: string;
  children?: ReactNode;
}) {
  return (
    <Card>
      <CardTitle className="flex items-center gap-2">
        <Icon aria-hidden className="text-primary size-6 shrink-0" />
        {title}
      </CardTitle>
      <CardDescription>{text}</CardDescription>
      {children}
    </Card>
  );
}
