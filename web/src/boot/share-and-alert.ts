/* The buttons that work without the application: [data-share] shares the page, [data-alert] shows its text. */
addEventListener(
  'click',
  ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('[data-share],[data-alert]');
    if (!button) return;
    const { alert: words } = button.dataset;
    if (words) alert(words);
    else sharePage(button);
  },
  true,
);

/** Opens the system's share sheet. Where there is none, copies the link and shows that on the button. */
function sharePage(button: HTMLElement) {
  const url = location.href;
  if (navigator.share) return navigator.share({ url }).catch(() => {}); // the reader may close the sheet
  return navigator.clipboard?.writeText(url).then(() => {
    button.textContent = button.dataset.share ?? '';
  });
}

export {};
