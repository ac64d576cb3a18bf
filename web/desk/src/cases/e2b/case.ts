import type { Criterion } from '@desk/lib/case';

/** What a file for an authority says about a report. It names no person. */
export interface IcsrCase {
  id: string;
  reference: string;
  created_at: string;
  updated_at: string;
  product_name: string;
  batch_number: string | null;
  expiry_date: string | null;
  region: string | null;
  language: 'en' | 'so';
  photo_url: string | null;
  seriousness: readonly Criterion[] | null;
  words: string; // cleared of personal data
}

/** The country of a report: a known region is one of Somalia. */
export const countryOf = ({ region }: IcsrCase) => (region ? 'SO' : undefined);

/** The name of a case in all countries: country, organisation and number. */
export const caseName = (report: IcsrCase) => `SO-DAAWO-${report.reference}`;
