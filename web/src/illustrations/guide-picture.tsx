import type { GuideIcon } from '@/content/guides';
import { BandagePicture } from './bandage-picture';
import { BoxPicture } from './box-picture';
import { CalendarPicture } from './calendar-picture';
import { CapsulePicture } from './capsule-picture';
import { CreamPicture } from './cream-picture';
import { MotherPicture } from './mother-picture';

const pictures = {
  label: BoxPicture,
  capsule: CapsulePicture,
  cream: CreamPicture,
  mother: MotherPicture,
  calendar: CalendarPicture,
  bandage: BandagePicture,
} satisfies Record<GuideIcon, () => React.ReactNode>;

const icons: Record<string, GuideIcon | undefined> = {
  'how-to-read-labels': 'label',
  'antibiotics-guide': 'capsule',
  'skin-cream-dangers': 'cream',
  'pregnancy-medicine': 'mother',
  'expired-medicines': 'calendar',
  'pain-management': 'bandage',
};

/** Returns the picture of a guide without loading the guide. */
export function guideIcon(slug: string): GuideIcon | undefined {
  return Object.hasOwn(icons, slug) ? icons[slug] : undefined;
}

export function GuidePicture({ icon }: { icon: GuideIcon }) {
  const Picture = pictures[icon];
  return <Picture />;
}
