import { placeLabel, regions } from '@/content/regions';

/**
 * The options of the plain form's one select, as HTML. Only the prerendered page has them: in the browser they
 * are in the page already, and this list stays out of its scripts.
 */
export function placeOptions(placeholder: string): string {
  if (!import.meta.env.SSR) return '';
  const groups = regions.map((region) => {
    const districts = region.districts.map((district) =>
      option(`${region.name}, ${district.name}`, placeLabel(district)),
    );
    const whole = option(region.name, placeLabel(region));
    return `<optgroup label="${placeLabel(region)}">${whole}${districts.join('')}</optgroup>`;
  });
  return option('', placeholder) + groups.join('');
}

/** Names of places hold apostrophes at most: nothing that HTML would read otherwise. */
function option(value: string, label: string) {
  return `<option value="${value}">${label}</option>`;
}
