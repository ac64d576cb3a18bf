/* Closes the header's menu, a <details>, by Escape and when the focus leaves it: it would cover the focused element. */
const openMenu = () => document.querySelector<HTMLDetailsElement>('header [open]');

addEventListener('focusin', ({ target }) => {
  const menu = openMenu();
  if (menu) menu.open = menu.contains(target as Element);
});

addEventListener('keydown', (event) => {
  const menu = (event as KeyboardEvent).key === 'Escape' && openMenu();
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
});

export {};
