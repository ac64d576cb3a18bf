import { placeLabel, regions } from '@/content/regions';

/**
 * Returns the options of the native select as HTML when prerendering. In the browser it returns '': the page has the
 * options already, and the list of places stays out of its scripts.
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

/** Names of places have no character that needs escaping in HTML (regions.test.ts). */
function option(value: string, label: string) {
  return `<option value="${value}">${label}</option>`;
}
