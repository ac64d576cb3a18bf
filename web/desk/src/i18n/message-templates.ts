import type { Language } from '@/i18n/language';

/**
 * Messages to the person of a report, in both languages. Another person may read the phone, so they
 * name no product, no illness and no service but the reference that the person knows.
 */
const templates = {
  call_time: {
    en: (reference) =>
      `Hello. You wrote to us under the reference ${reference}. May we call you? Which time is good for you?`,
    so: (reference) =>
      `Salaan. Waxaad noo soo qortay tixraaca ${reference}. Ma ku wici karnaa? Waqtigee kuu habboon?`,
  },
  no_answer: {
    en: (reference) =>
      `Hello. We called you about the reference ${reference} and did not reach you. Please tell us when we may call again.`,
    so: (reference) =>
      `Salaan. Waxaan kaa soo wacnay tixraaca ${reference}, mana aannaan ku helin. Fadlan noo sheeg goorta aan mar kale ku wici karno.`,
  },
  pack: {
    en: (reference) =>
      `Hello. About the reference ${reference}: please keep the pack and the receipt, and send us the batch number and the expiry date that are printed on it.`,
    so: (reference) =>
      `Salaan. Ku saabsan tixraaca ${reference}: fadlan hay baakadka iyo rasiidka, oo noo soo dir lambarka dufcadda iyo taariikhda dhicitaanka ee ku daabacan.`,
  },
  thanks: {
    en: (reference) =>
      `Hello. Thank you: we have looked at ${reference}. Keep the reference. If anything changes, write to us again.`,
    so: (reference) =>
      `Salaan. Mahadsanid: waan eegnay ${reference}. Tixraaca hay. Haddii wax isbeddelaan, mar kale noo soo qor.`,
  },
} satisfies Record<string, Record<Language, (reference: string) => string>>;

export type Template = keyof typeof templates;

/** The names of the templates in the order of the list. */
export const templateNames = Object.keys(templates) as Template[];

/** Returns the message of a template in the language of the person. */
export const messageOf = (name: Template, language: Language, reference: string) =>
  templates[name][language](reference);

/** Reports whether a message has no word but those of a template. */
export const isUnchanged = (body: string, reference: string) =>
  body.trim() === '' ||
  templateNames.some((name) =>
    Object.values(templates[name]).some((message) => message(reference) === body.trim()),
  );
