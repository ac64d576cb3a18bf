import places from '@functions/submit-report/places.json' with { type: 'json' };

/** A region or a district, by its English and its Somali name. */
export interface Place {
  name: string;
  somali: string;
}

export interface Region extends Place {
  districts: readonly Place[];
}

/** Returns the name that the location picker shows: 'Hodan (Hodan)'. */
export function placeLabel({ name, somali }: Place) {
  return `${name} (${somali})`;
}

/** The 18 regions of Somalia with their districts, from the file that the submit-report function reads too. */
export const regions: readonly Region[] = places;
