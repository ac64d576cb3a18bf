/** What a key does: its action, leave the field that has the focus, or nothing. */
type KeyEffect = 'act' | 'leave' | 'none';

/** Keys that act again while they are held. */
const repeated = ['j', 'k'];

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'repeat'>;

/**
 * Returns what a key does at an element. In a field only Escape acts. While a dialog is open, and
 * with a modifier, no key does: the focus may be behind the dialog.
 */
export function keyEffect(press: Press, target: Element): KeyEffect {
  if (press.ctrlKey || press.metaKey || press.altKey || press.isComposing) return 'none';
  if (press.repeat && !repeated.includes(press.key)) return 'none';
  if (target.ownerDocument.querySelector('dialog[open]')) return 'none';
  if (!target.closest('input, textarea, select, [contenteditable]')) return 'act';
  return press.key === 'Escape' ? 'leave' : 'none';
}
