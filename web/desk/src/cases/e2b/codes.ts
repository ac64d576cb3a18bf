import { el } from './xml';

/** Identifiers of the lists of codes of ICH E2B(R3), below 2.16.840.1.113883.3.989.2.1. */
const ich = '2.16.840.1.113883.3.989.2.1';
export const list = (number: number) => `${ich}.1.${number}`;
export const identifier = (number: number) => `${ich}.3.${number}`;

/** The observations of list 19. */
export const observed = (code: string, displayName: string) =>
  el('code', { code, codeSystem: list(19), displayName });

/** The code of a country (ISO 3166-1). */
export const country = (code: string) => el('code', { code, codeSystem: '1.0.3166.1.2.2' });

export const choice = (code: string, of: number) =>
  el('value', { 'xsi:type': 'CE', code, codeSystem: list(of) });

/** A fact that is true, or of which there is no information: E2B(R3) has no false for these. */
export const trueOrUnknown = (yes: boolean) =>
  el('value', { 'xsi:type': 'BL', ...(yes ? { value: true } : { nullFlavor: 'NI' }) });

/** Returns the text without what exceeds the limit of an element. It keeps a character outside the BMP whole. */
export const limited = (text: string, most: number) => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');

/** Returns a moment in UTC as 20261127091500+0000. */
export const moment = (iso: string) => `${new Date(iso).toISOString().replace(/\D/g, '').slice(0, 14)}+0000`;
