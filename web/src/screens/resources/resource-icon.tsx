import {
  Baby,
  BookOpen,
  Download,
  FileText,
  Heart,
  type LucideIcon,
  Shield,
  Smartphone,
  Users,
} from 'lucide-react';
import { cn } from '@/components/cn';

const icons = { FileText, Shield, Heart, Baby, Smartphone, Users, BookOpen, Download };

/** Returns the icon with a name, or the default one: a resource may have any text, also the name of a property of objects. */
function iconOf(name: string | null): LucideIcon {
  return name !== null && Object.hasOwn(icons, name) ? icons[name as keyof typeof icons] : FileText;
}

/** The site's colours for those that a resource may have. Others get the first. */
const colors: Record<string, string | undefined> = {
  'bg-teal-700': 'bg-primary-soft text-primary',
  'bg-sky-700': 'bg-primary-soft text-primary',
  'bg-emerald-700': 'bg-primary-soft text-primary',
  'bg-rose-700': 'bg-rose-soft text-rose',
  'bg-pink-700': 'bg-rose-soft text-rose',
  'bg-amber-700': 'bg-sun-soft text-sun-ink',
  'bg-violet-700': 'bg-henna-soft text-henna',
  'bg-slate-700': 'bg-muted text-foreground',
};

export function ResourceIcon({ name, color }: { name: string | null; color: string }) {
  const Icon = iconOf(name);
  const classes = (Object.hasOwn(colors, color) && colors[color]) || colors['bg-teal-700'];
  return (
    <span className={cn('rounded-xl p-3', classes)}>
      <Icon aria-hidden className="size-7" />
    </span>
  );
}
