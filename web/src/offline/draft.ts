/**
 * What a reader has typed, kept in this tab only (phones are shared), and for thirty idle minutes. Every
 * function tolerates a browser that forbids storage: the form then simply has no draft.
 */
const key = 'daawo.report-draft';
export const draftLife = 30 * 60 * 1000;

interface Stored<Draft> {
  savedAt: number;
  draft: Draft;
}

export function saveDraft<Draft>(draft: Draft, now = Date.now()) {
  try {
    sessionStorage.setItem(key, JSON.stringify({ savedAt: now, draft } satisfies Stored<Draft>));
  } catch {
    // full or forbidden
  }
}

export function readDraft<Draft>(now = Date.now()): Draft | undefined {
  try {
    const text = sessionStorage.getItem(key);
    if (!text) return undefined;
    const { savedAt, draft } = JSON.parse(text) as Stored<Draft>;
    if (now - savedAt < draftLife) return draft;
    clearDraft();
  } catch {
    // forbidden, or not ours
  }
  return undefined;
}

export function clearDraft() {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // forbidden: there is none
  }
}
