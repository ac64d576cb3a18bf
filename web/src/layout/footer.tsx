import { Mail, MessageCircle } from 'lucide-react';
import { Link } from '@/components/link';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { emailLink, whatsappLink } from '@/site-config';
import { Logo } from './logo';
import { footerLinks } from './navigation';

export function Footer() {
  const language = useLanguage();
  const { siteName, nav, footer } = useText('layout');

  return (
    <footer className="bg-muted mt-10 print:hidden">
      <div className="alindi" />
      <div className="page grid gap-8 py-10 md:grid-cols-[3fr_4fr_3fr]">
        <div>
          <p className="flex items-center gap-2 font-serif text-xl font-semibold">
            <Logo className="size-8" />
            {siteName}
          </p>
          <p className="text-muted-foreground mt-3 max-w-sm">{footer.about}</p>
        </div>
        <nav aria-labelledby="pages">
          <h2 id="pages" className="font-sans text-base">
            {footer.pages}
          </h2>
          <ul className="grid grid-cols-2 gap-x-2">
            {footerLinks.map(({ path, name }) => (
              <li key={path}>
                <Link to={pathIn(language, path)} className="footer-link">
                  {nav[name]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div>
          <h2 className="font-sans text-base">{footer.support}</h2>
          <ul>
            <li>
              <a href={whatsappLink()} className="footer-link">
                <MessageCircle aria-hidden className="size-5" />
                {footer.whatsapp}
              </a>
            </li>
            <li>
              <a href={emailLink} className="footer-link">
                <Mail aria-hidden className="size-5" />
                {footer.email}
              </a>
            </li>
            <li>
              <a href="#terms" className="footer-link">
                {footer.terms}
              </a>
            </li>
            <li>
              <a href="#accessibility" className="footer-link">
                {footer.accessibility}
              </a>
            </li>
          </ul>
        </div>
      </div>
      <div className="border-t">
        <p className="page text-muted-foreground py-6 text-sm">
          <strong className="text-foreground">{`${footer.disclaimerTitle}: `}</strong>
          {footer.disclaimer}
        </p>
      </div>
    </footer>
  );
}
