import type { Values } from '@desk/backend/resources';
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

type IconName = NonNullable<Values['icon_name']>;

/** The icons that a resource may have, by their names in the database. */
export const icons: Record<IconName, LucideIcon> = {
  FileText,
  Shield,
  Heart,
  Baby,
  Smartphone,
  Users,
  BookOpen,
  Download,
};

export const iconNames = Object.keys(icons) as IconName[];
