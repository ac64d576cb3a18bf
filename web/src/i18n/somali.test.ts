import { describe, expect, test } from 'vitest';
import { readPairs } from '../../scripts/content-sheet/texts';

/** Commands, variables, files and statements of SQL, which the desk's checks name. */
const code =
  /`[^`]*`|\b(?:create index|alter table|select pg_)[^:;]*|\bchmod \d+|--?[a-z]+-[a-z]+|\b[A-Za-z]+(?:_[A-Za-z]+)+(?:\.\w+| = \w+)?|\b[\w/]+\.(?:toml|html|md)\b/g;

/** Every Somali text of the site, the desk and the functions' pages, without words in brackets and quotes, placeholders and code. */
const texts = readPairs('..').map(({ place, english, somali }) => ({
  place,
  english: plain(english?.text),
  somali: plain(somali?.text),
}));

function plain(text = '') {
  return text.replace(code, ' ').replace(/\([^)]*\)|“[^”]*”|\$?\{[^}]*\}|%[ds]/g, ' ');
}

const wordsOf = (text: string) => text.toLowerCase().match(/[a-z’]+/g) ?? [];

/** Words that both languages have: names, units, keys, and Somali words that look like English ones. */
const common = new Set(
  [
    'toronto daawo whatsapp facebook soomaali aamin ambulance english minneapolis st paul who gobol degmo',
    'paracetamol ibuprofen codeine tramadol penicillin rifampicin diclofenac naproxen aspirin morphine naloxone prednisolone',
    'dexamethasone isotretinoin valproate warfarin methotrexate lithium thalidomide ace inhibitors arbs tetracyclines',
    'streptomycin kanamycin folic acid hydroquinone tretinoin clobetasol betamethasone mercury mercurio mercuric mercurous',
    'chloride calomel cinnabar melanin c difficile hiv metamizole dipyrone novalgin',
    'e b meddra vigiflow', // E2B, the form of cases between authorities
    'spf exp din npn mg g kg mb pdf csv word powerpoint browser internet app passkey server backup',
    'postgres smtp tls https wal slot replication policy proxy openssl icu gib nats docker cli disk bucket realtime', // of servers
    'age keygen chrony systemd timesyncd delete url', // programs, a statement
    'escape enter esc a j k n r x region district', // the last two name the English list beside the Somali one
    'run u in sun been way day is so to', // Somali: true, to, that, poison, false, he, say, self, come, him
  ].flatMap((line) => line.split(' ')),
);

describe('Somali', () => {
  test('has no word that was left in English', () => {
    const english = new Set(texts.flatMap((text) => wordsOf(text.english)));
    const left = texts.flatMap(({ place, somali }) =>
      wordsOf(somali)
        .filter((word) => english.has(word) && !common.has(word))
        .map((word) => `${place}: ${word}`),
    );
    expect(left).toEqual([]);
  });

  test('has sentences of at most 25 words, and short ones on average', () => {
    const sentences = texts.flatMap(({ place, somali }) =>
      somali.split(/(?<=[.:;?!])\s/).map((sentence) => ({ place, length: wordsOf(sentence).length })),
    );
    expect(sentences.filter(({ length }) => length > 25)).toEqual([]);
    const mean = sentences.reduce((sum, { length }) => sum + length, 0) / sentences.length;
    expect(mean).toBeLessThan(8);
  });
});
