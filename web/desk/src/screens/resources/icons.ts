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

/** The icons that the site can draw, by their names in the database. */
const icons = { FileText, Shield, Heart, Baby, Smartphone, Users, BookOpen, Download };

type IconName = keyof typeof icons;

export const iconNames = Object.keys(icons) as IconName[];

export const isIcon = (name: string): name is IconName => Object.hasOwn(icons, name);

/** Returns the icon that the site draws: the default one for a name that it does not know. */
export const iconOf = (name: string | null): LucideIcon =>
  name !== null && isIcon(name) ? icons[name] : FileText;
