/*
 * Reads a guide aloud with the browser's speech. The button stays hidden without a voice of the page's language: a voice
 * of another language would make the words wrong. Voices may arrive late.
 */
import { arrived } from './document-arrival';

const speech = globalThis.speechSynthesis;

function voiceOf(language: string) {
  return speech.getVoices().find(({ lang }) => lang.toLowerCase().split(/[-_]/)[0] === language);
}

arrived.then(() => {
  const button = document.querySelector<HTMLButtonElement>('[data-read-aloud]');
  if (!button || !speech) return;
  const { lang } = document.documentElement;
  const label = button.lastElementChild as Element;
  const words = [label.textContent, button.dataset.readAloud];
  let reading = false;
  const set = (now: boolean) => {
    reading = now;
    label.textContent = words[Number(now)] as string;
  };
  const show = () => {
    button.hidden = !voiceOf(lang);
  };
  button.onclick = () => {
    speech.cancel();
    set(!reading);
    if (!reading) return;
    // Short parts: some browsers stop a long one in its middle.
    const spoken = [...document.querySelectorAll('[data-slot=guide] :is(h2,p,li,figcaption)')].map(
      ({ textContent }) => new SpeechSynthesisUtterance(textContent as string),
    );
    for (const each of spoken) {
      each.lang = lang;
      each.voice = voiceOf(lang) as SpeechSynthesisVoice;
      speech.speak(each);
    }
    const last = spoken.at(-1);
    if (last) last.onend = () => set(false);
  };
  addEventListener('pagehide', () => speech.cancel());
  speech.onvoiceschanged = show;
  show();
});
