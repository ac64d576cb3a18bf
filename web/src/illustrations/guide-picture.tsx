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

export function GuidePicture({ icon }: { icon: GuideIcon }) {
  const Picture = pictures[icon];
  return <Picture />;
}
