import { draftKey } from '@/offline/draft-storage';
import type { Page } from './drivers';
import type { SlowLine } from './slow-line';

/** A page that has just arrived, before the application has. */
export interface Visit {
  page: Page;
  line: SlowLine;
  /** Resolves when the function returns true in the page. */
  until: <Argument>(
    what: string,
    test: (argument: Argument) => boolean,
    argument?: Argument,
  ) => Promise<void>;
  /** Resolves when the condition is true. */
  soon: (what: string, test: () => boolean) => Promise<void>;
  /** Resolves when the application runs. */
  live: () => Promise<void>;
  /** Opens a page of the visit's language. */
  goto: (path: string) => Promise<unknown>;
  /** The address of the control, if it is a link. */
  href: string;
}

/** A kind of control: which elements of the pages it is, and what its first touch does. */
export interface Control {
  name: string;
  /** Selects the controls of this kind. The first one of the page is touched. */
  selector: string;
  /** A page that has one. */
  path: string;
  touch: (visit: Visit, selector: string) => Promise<void>;
}

const field = (name: string) => `[name=${name}]`;
const report = '/report/';

/** The value of a control is that text. */
const hasValue = ([selector, value]: string[]) =>
  document.querySelector<HTMLInputElement>(selector ?? '')?.value === value;
const exists = (selector: string) => document.querySelector(selector) !== null;

/** Follows a link to this site. */
async function follow({ page, soon, href }: Visit, selector: string) {
  await page.click(selector);
  await soon(`the page ${href}`, () => page.url() === href);
}

/** Follows a link to another site, which the line does not reach. */
async function leave({ page, line, soon, href }: Visit, selector: string) {
  await page.click(selector);
  const { hostname } = new URL(href);
  await soon(`a request to ${hostname}`, () =>
    line.asked.some((each) => each.startsWith(`CONNECT ${hostname}:`)),
  );
}

/** Leaves a link that another program opens to the browser. */
async function handOver({ page, until }: Visit, selector: string) {
  await page.evaluate(() => {
    addEventListener('click', (event) => {
      document.documentElement.dataset.handedOver = String(!event.defaultPrevented);
      event.preventDefault(); // no test opens a mail program
    });
  }, undefined);
  await page.click(selector);
  await until(
    'a click that no script has stopped',
    () => document.documentElement.dataset.handedOver === 'true',
  );
}

/** Types a text that stays when the application takes over, and is kept as a draft. */
function typing(text: string) {
  return async ({ page, until, live }: Visit, selector: string) => {
    await page.evaluate((chosen) => {
      const fold = document.querySelector(chosen)?.closest('details');
      if (fold) fold.open = true;
    }, selector);
    await page.click(selector);
    await page.type(text);
    await live();
    await until(`the text ${text}`, hasValue, [selector, text]);
    await until('the focus', (chosen) => document.activeElement === document.querySelector(chosen), selector);
  };
}

/** Chooses an option, as the browser does after its list was open. */
async function choose({ page }: Visit, selector: string, value: string) {
  await page.evaluate(
    ([chosen, option]) => {
      const select = document.querySelector(chosen ?? '') as HTMLSelectElement;
      select.focus();
      select.value = option ?? '';
      for (const type of ['input', 'change']) select.dispatchEvent(new Event(type, { bubbles: true }));
    },
    [selector, value],
  );
}

/** Every control of the site. A test compares this list with the pages. */
export const controls: readonly Control[] = [
  {
    name: 'link within the page',
    selector: 'a[href^="#"]',
    path: '/',
    touch: async ({ page, until }) => {
      await page.press('Tab'); // to the first one, which is hidden until then
      await page.press('Enter');
      await until('the place in the page', () => location.hash !== '');
    },
  },
  {
    name: 'quick exit',
    selector: 'a[data-quick-exit]',
    path: '/women-health/',
    touch: leave,
  },
  {
    name: 'language switch',
    selector: 'header a[hreflang]',
    path: '/about/',
    touch: follow,
  },
  {
    name: 'link to a page',
    selector: 'a[href^="/"]:not([hreflang])',
    path: '/learn/',
    touch: follow,
  },
  {
    name: 'link to another site',
    selector: 'a[href^="http"]:not([data-quick-exit])',
    path: '/contact/',
    touch: leave,
  },
  {
    name: 'link to a mail or telephone program',
    selector: 'a[href^="mailto:"], a[href^="tel:"]',
    path: '/contact/',
    touch: handOver,
  },
  {
    name: 'menu',
    selector: 'header summary',
    path: '/',
    touch: async ({ page, until }, selector) => {
      await page.click(selector);
      await until('the open menu', exists, 'header details[open]');
    },
  },
  {
    name: 'sharing',
    selector: 'button[data-share]',
    path: '/learn/antibiotics-guide/',
    touch: async ({ page, until }, selector) => {
      await page.click(selector);
      await until('the address', () => document.documentElement.dataset.shared === location.href);
    },
  },
  {
    name: 'alert',
    selector: 'button[data-alert]',
    path: '/women-health/',
    touch: async ({ page, soon }, selector) => {
      await page.click(selector);
      await soon('an alert', () => page.alerts.length === 1);
    },
  },
  {
    name: 'phone number',
    selector: field('phone'),
    path: report,
    touch: async ({ page, until, live }, selector) => {
      await page.click(selector);
      await page.type('612345678');
      await live();
      await until('the form of a Somali number', hasValue, [selector, '61 234 5678']);
      await until('all countries', () => document.querySelectorAll('[name=country] option').length > 200);
    },
  },
  {
    name: 'country',
    selector: field('country'),
    path: report,
    touch: async (visit, selector) => {
      await choose(visit, selector, '44');
      await visit.live();
      await visit.until('the flag', exists, 'img[src="/flags/gb.svg"]');
      await visit.until(
        'all countries',
        () => document.querySelectorAll('[name=country] option').length > 200,
      );
      await visit.until('the choice', hasValue, [selector, '44']);
    },
  },
  {
    name: 'location',
    selector: `select${field('location')}`,
    path: report,
    touch: async (visit, selector) => {
      await choose(visit, selector, 'Bari');
      await visit.live();
      await visit.until('the open list', exists, selector); // a focused list is not replaced
      await visit.page.click(field('product_name'));
      await visit.until('the choice', hasValue, [`input${field('location')}`, 'Bari']);
    },
  },
  {
    name: 'list of regions',
    selector: 'button[role=combobox]',
    path: report,
    touch: async ({ page, until, live }, selector) => {
      await page.click(field('product_name'));
      await live();
      await page.click(selector);
      await until('the open list', exists, '[role=option]');
    },
  },
  ...['product_name', 'issue_description', 'name', 'where_bought', 'batch_number', 'expiry_date'].map(
    (name) => ({
      name,
      selector: field(name),
      path: report,
      touch: typing('12/2027'),
    }),
  ),
  {
    name: 'photo',
    selector: field('photo'),
    path: report,
    touch: async ({ page, until, live }, selector) => {
      await page.evaluate((chosen) => {
        const input = document.querySelector(chosen) as HTMLInputElement;
        const files = new DataTransfer();
        files.items.add(new File(['a picture'], 'photo.jpg', { type: 'image/jpeg' }));
        input.files = files.files; // without a focus, as in Safari
        for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
      }, selector);
      await live();
      await until('the name of the photo', () =>
        [...document.querySelectorAll('form [role=status]')].some((each) =>
          each.textContent?.includes('photo.jpg'),
        ),
      );
    },
  },
  {
    name: 'label',
    selector: 'label[for]',
    path: report,
    touch: async ({ page, until }, selector) => {
      await page.click(selector);
      await until(
        'the focus in its field',
        (chosen) => {
          const label = document.querySelector<HTMLLabelElement>(chosen);
          return document.activeElement !== document.body && label?.control === document.activeElement;
        },
        selector,
      );
    },
  },
  {
    name: 'fold',
    selector: 'form summary',
    path: report,
    touch: async ({ page, until, live }, selector) => {
      await page.click(selector);
      await live();
      await until('the open fold', exists, 'form details[open]');
    },
  },
  {
    name: 'calendar',
    selector: 'form button[aria-haspopup=dialog]',
    path: report,
    touch: async ({ page, until }, selector) => {
      await page.evaluate(() => document.querySelector('form details')?.setAttribute('open', ''), undefined);
      await page.click(selector);
      await until('the calendar', exists, '[role=dialog]');
    },
  },
  {
    name: 'deletion of the draft',
    selector: 'form button[type=button]:not([aria-haspopup])',
    path: report,
    touch: async ({ page, goto, until, live }, selector) => {
      await page.evaluate((key) => {
        sessionStorage[key] = JSON.stringify({ savedAt: Date.now(), value: { product_name: 'Cream' } });
      }, draftKey);
      await goto(report);
      await until('the draft', hasValue, [field('product_name'), 'Cream']);
      await page.click(selector);
      await live();
      await until('an empty form', hasValue, [field('product_name'), '']);
      await until('no draft', (key) => sessionStorage.getItem(key) === null, draftKey);
    },
  },
  {
    name: 'submission',
    selector: 'form button[type=submit]',
    path: report,
    touch: async ({ page, until, live }, selector) => {
      await page.click(selector);
      await live();
      await until('the list of errors', exists, 'form [aria-labelledby=error-summary]');
    },
  },
  {
    name: 'download',
    selector: 'main li button',
    path: '/resources/',
    touch: async ({ page, line, until, soon }, selector) => {
      await until('the list', exists, selector);
      await page.click(selector);
      await soon('the counted download', () =>
        line.asked.some((each) => /^POST .*\/functions\/v1\/track-download$/.test(each)),
      );
    },
  },
];
