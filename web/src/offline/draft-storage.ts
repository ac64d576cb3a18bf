/** Key in sessionStorage of the report form's draft. Imported by boot/stored-draft.ts, so this module must stay small. */
export const draftKey = 'daawo.report-draft';

/** Milliseconds without input after which the draft is deleted. */
export const draftLife = 30 * 60 * 1000;
