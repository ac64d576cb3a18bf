import { sourceEntries } from './source-entries';

/**
 * The sources of the guides. Titles stay in English, as in the source. Some addresses are those of a copy or of a
 * report about the source; REVIEW.md lists those to check before launch.
 */
export interface Source {
  name: string;
  url: string;
  /** Date of the source: a year or a day. Those without one were read in `readIn`. */
  published?: string;
}

/** When the sources were read. */
export const readIn = '2026-11';

export type SourceId = keyof typeof sourceEntries;

/** The danger signs, and the sources of those that rest on one. REVIEW.md has the others. */
export const signSources = {
  swelling: ['NHS-ANA'],
  breathing: ['NHS-ANA'],
  colour: ['NHS-ANA'],
  drowsy: ['NHS-ANA'],
  limp: ['NHS-ANA'],
  slow: ['UNODC-WHO'],
  skin: [],
  bleeding: ['CDC-1'],
  poison: ['PARA-OD'],
} as const satisfies Record<string, readonly SourceId[]>;

export type DangerSign = keyof typeof signSources;

/** The sources of the emergency numbers, which are the same on every guide. */
export const numberSources = [
  'AAMIN',
  'ONTARIO-911',
  'ONTARIO-811',
  'OPC',
] as const satisfies readonly SourceId[];

/** Returns the sources of a guide's content, its danger signs and the numbers below them, each once. */
export function sourcesOf({
  sources,
  signs,
}: {
  sources: readonly SourceId[];
  signs: readonly DangerSign[];
}) {
  return [
    ...new Set<SourceId>([...sources, ...signs.flatMap((sign) => signSources[sign]), ...numberSources]),
  ];
}

export const sources: Record<SourceId, Source> = sourceEntries;
