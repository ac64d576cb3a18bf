import type { Report } from '@desk/backend/reports';
import { regions } from '@/content/regions';

type Place = Pick<Report, 'region' | 'district' | 'location'>;

/**
 * Reports whether the visitor typed a part of the location. Other parts are the region and the
 * district in a language.
 */
export function hasTypedPlace(place: Place) {
  const parts = (place.location ?? '').split(',').map((part) => part.trim());
  return parts.some((part) => part && !isPicked(place, part));
}

function isPicked({ region, district }: Place, part: string) {
  return regions
    .flatMap((r) => [r, ...r.districts])
    .some(
      (place) =>
        [region, district].includes(place.name) &&
        [place.name, place.somali].some((name) => name.toLowerCase() === part.toLowerCase()),
    );
}
