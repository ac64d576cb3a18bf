interface Place {
  region: string | null;
  district: string | null;
}

/** Returns 'Kismaayo, Jubbada Hoose' for a district and its region, or '' if neither is known. */
export function placeName({ region, district }: Place) {
  return [district, region].filter(Boolean).join(', ');
}
