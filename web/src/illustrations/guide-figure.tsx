import type { GuideFigure } from '@/content/guides';
import { GermsFigure } from './germs-figure';
import { LabelFigure } from './label-figure';
import { SkinFigure } from './skin-figure';
import { StoreFigure } from './store-figure';
import { TabletsFigure } from './tablets-figure';
import { WeeksFigure } from './weeks-figure';

const figures = {
  label: LabelFigure,
  germs: GermsFigure,
  skin: SkinFigure,
  weeks: WeeksFigure,
  store: StoreFigure,
  tablets: TabletsFigure,
} satisfies Record<GuideFigure['name'], () => React.ReactNode>;

/** The drawing of a figure in a guide. Its caption says what it shows. */
export function GuideFigurePicture({ name }: { name: GuideFigure['name'] }) {
  const Figure = figures[name];
  return <Figure />;
}
