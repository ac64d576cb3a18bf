import { BookOpen, HeartPulse, Megaphone, MessagesSquare } from 'lucide-react';
import { Link } from '@/components/link';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';

/** The four links of the home page. */
export function QuickAccess() {
  const language = useLanguage();
  const { quick, quickTitle } = useText('home');
  const links = [
    { ...quick.learn, path: '/learn/', Icon: BookOpen, colors: 'bg-primary-soft text-primary' },
    { ...quick.womensHealth, path: '/women-health/', Icon: HeartPulse, colors: 'bg-rose-soft text-rose' },
    { ...quick.report, path: '/report/', Icon: Megaphone, colors: 'bg-henna-soft text-henna' },
    { ...quick.contact, path: '/contact/', Icon: MessagesSquare, colors: 'bg-sun-soft text-sun-ink' },
  ];

  return (
    <nav className="page py-10 md:py-14" aria-labelledby="quick">
      <h2 id="quick">{quickTitle}</h2>
      <ul className="mt-6 grid gap-4 sm:grid-cols-2">
        {links.map(({ path, title, content, Icon, colors }) => (
          <li key={path}>
            <Link
              to={pathIn(language, path)}
              className="bg-card flex h-full flex-wrap items-center gap-4 rounded-2xl border p-4 hover:border-primary"
            >
              <span className={`rounded-xl p-3 ${colors}`}>
                <Icon aria-hidden className="size-7" />
              </span>
              <span className="flex-1 basis-40">
                <strong className="block text-lg">{title}</strong>
                <span className="text-muted-foreground">{content}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
