import { createHash } from 'node:crypto';
import { sources, sourcesOf } from '@/content/sources';
import { documentAt } from './documents';
import { expect, test } from './fixtures';
import { guides, slugs } from './guides';
import { inBothLanguages } from './languages';

for (const { language, words, to } of inBothLanguages) {
  const text = words.guide;
  const backToLearn = { en: 'Back to Learn', so: 'Ku noqo Baro' }[language];

  test(`every guide in ${language} shows all its blocks in order`, async ({ page }) => {
    for (const slug of slugs) {
      const guide = guides[language][slug];
      if (!guide) throw new Error(`no guide ${slug}`);
      await page.goto(to(`/learn/${slug}/`));

      const article = page.getByRole('article');
      await expect(article.getByRole('heading', { level: 1 })).toHaveText(guide.title);
      await expect(article).toContainText(guide.description);
      const main = article.locator('[data-slot=guide]');
      await expect(main.getByRole('heading', { level: 2 }).first()).toHaveText(text.now);
      await expect(main.getByRole('region', { name: text.now }).getByRole('listitem')).toHaveText([
        ...guide.now,
      ]);
      await expect(main.getByRole('region', { name: text.minute }).getByRole('listitem')).toHaveText([
        ...guide.minute,
      ]);
      await expect(main.locator('figure svg')).toBeVisible();
      await expect(article.getByRole('link', { name: backToLearn })).toHaveAttribute('href', to('/learn/'));

      const inOrder = guide.content.flatMap((block) => {
        if (block.type === 'checklist') return [...block.items];
        return block.type === 'section' ? [block.title, block.content] : [text.warning, block.content];
      });
      const shown = (await article.textContent()) ?? '';
      let from = 0;
      for (const each of inOrder) {
        const at = shown.indexOf(each, from);
        expect(at, `${slug}: “${each}” after the block before it`).toBeGreaterThanOrEqual(from);
        from = at + each.length;
      }
      const sections = guide.content.filter((block) => block.type === 'section');
      const checklists = guide.content.filter((block) => block.type === 'checklist');
      const warnings = guide.content.filter((block) => block.type === 'warning');
      await expect(article.locator('section:not([data-slot])').getByRole('heading')).toHaveText(
        sections.map(({ title }) => title),
      );
      await expect(article.locator('ul.checklist')).toHaveCount(checklists.length);
      await expect(article.locator('ul.checklist > li')).toHaveText(checklists.flatMap(({ items }) => items));
      const alerts = article.locator('[data-slot=alert]');
      await expect(alerts.locator('[data-slot=alert-title]')).toHaveText(warnings.map(() => text.warning));
      await expect(alerts.locator('[data-slot=alert-description]')).toHaveText(
        warnings.map(({ content }) => content),
      );
    }
  });

  test(`a guide in ${language} shows danger signs, phone numbers, sources and its review`, async ({
    page,
  }) => {
    await page.goto(to('/learn/pain-management/'));
    const danger = page.getByRole('region', { name: text.danger.title });
    const guide = guides[language]['pain-management'];
    if (!guide) throw new Error('no guide');
    await expect(danger.getByRole('listitem')).toHaveText(guide.signs.map((sign) => text.danger.signs[sign]));
    for (const number of ['999', '911', '1-844-764-7669', '811']) {
      await expect(danger.getByRole('link', { name: number })).toHaveAttribute('href', `tel:${number}`);
    }
    await expect(danger).toContainText(text.danger.notAmbulance);

    const aside = page.getByRole('complementary');
    const own = sourcesOf(guide);
    await expect(page.locator('[data-slot=sources] li')).toHaveCount(own.length);
    for (const id of own) await expect(aside).toContainText(sources[id].name);
    await expect(aside).toContainText(`${text.written} ${text.notReviewed} ${text.nextReview}`);
    await expect(aside).toContainText(text.disclaimer);
  });

  test(`a guide in ${language} leads to the next one and can be shared`, async ({ page, context }) => {
    for (const [at, slug] of slugs.entries()) {
      await page.goto(to(`/learn/${slug}/`));
      const next = slugs[(at + 1) % slugs.length] ?? '';
      await expect(page.getByRole('main').getByRole('link', { name: text.next })).toHaveAttribute(
        'href',
        to(`/learn/${next}/`),
      );
      await expect(page.getByRole('link', { name: text.whatsapp })).toHaveAttribute(
        'href',
        new RegExp(`^https://wa\\.me/\\?text=https?://[^/]+${to(`/learn/${slug}/`)}$`),
      );
    }

    // The system's share sheet, or without one the link in the clipboard.
    await page.addInitScript(() => {
      Object.assign(navigator, {
        share: (data: ShareData) => Promise.resolve(Object.assign(globalThis, { data })),
      });
    });
    await page.reload();
    const share = page.getByRole('main').getByRole('button');
    await share.click();
    expect(await page.evaluate(() => (globalThis as unknown as { data: ShareData }).data)).toEqual({
      url: page.url(),
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(() => Object.assign(navigator, { share: undefined }));
    await share.click();
    await expect(share).toHaveText(text.copied);
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
  });

  test(`a guide in ${language} links to the danger signs on a phone`, async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(to('/learn/expired-medicines/'));
    const signs = page.getByRole('heading', { name: text.danger.title });
    await expect(signs).not.toBeInViewport();
    await page.getByRole('link', { name: text.danger.title }).click();
    await expect(signs).toBeInViewport();
  });

  test(`an unknown guide in ${language} shows Guide Not Found`, async ({ page }) => {
    const response = await page.goto(to('/learn/no-such-guide/'));
    expect(response?.status()).toBe(404);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(text.notFound.title);
    await expect(page.getByText(text.notFound.content)).toBeVisible();
    const back = page.getByRole('main').getByRole('link', { name: backToLearn });
    await expect(back).toHaveAttribute('href', to('/learn/'));
    await back.click();
    await expect(page).toHaveURL(new RegExp(`${to('/learn/')}$`));
  });
}

for (const voice of ['so-SO', 'en-GB']) {
  test(`guides are read aloud in the language of the voice ${voice}`, async ({ page }) => {
    await page.addInitScript((lang) => {
      const spoken: string[] = [];
      Object.assign(globalThis, { spoken });
      Object.defineProperty(globalThis, 'SpeechSynthesisUtterance', {
        value: class {
          constructor(readonly text: string) {}
        },
      });
      Object.defineProperty(globalThis, 'speechSynthesis', {
        value: {
          getVoices: () => [{ lang }],
          cancel: () => {},
          speak: (each: { text: string }) => spoken.push(each.text),
        },
      });
    }, voice);
    for (const { language, words, to } of inBothLanguages) {
      await page.goto(to('/learn/expired-medicines/'));
      const [read = '', stop = ''] = words.guide.readAloud.split('|');
      const button = page.getByRole('button', { name: read });
      if (!voice.startsWith(language)) {
        await expect(button).toBeHidden();
        continue;
      }
      await button.click();
      const guide = guides[language]['expired-medicines'];
      const spoken = await page.evaluate(() => (globalThis as unknown as { spoken: string[] }).spoken);
      expect(spoken).toEqual(expect.arrayContaining([words.guide.now, ...(guide?.now ?? [])]));
      expect(spoken.join(' ')).not.toContain(words.guide.sources);
      await page.getByRole('button', { name: stop }).click();
      await expect(button).toBeVisible();
    }
  });
}

test('a guide without a recording shows no player', async ({ page }) => {
  await page.goto('/learn/antibiotics-guide/');
  await expect(page.locator('audio')).toHaveCount(0);
});

test('a guide prints on one sheet of A4, at most two pages, without navigation', async ({ page }) => {
  for (const { to } of inBothLanguages) {
    for (const slug of slugs) {
      await page.goto(to(`/learn/${slug}/`));
      const pdf = await page.pdf({ preferCSSPageSize: true });
      const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length;
      expect(pages, slug).toBeGreaterThan(0);
      expect(pages, slug).toBeLessThanOrEqual(2);
    }
  }
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('contentinfo')).toBeHidden();
  await expect(page.getByRole('link', { name: 'Ku noqo Baro' })).toBeHidden();
});

test('the PDF of a guide has the text of the page', async ({ request }) => {
  for (const { language, to } of inBothLanguages) {
    for (const slug of slugs) {
      const page = await documentAt(request, to(`/learn/${slug}/`));
      const words = page.querySelector('article')?.textContent ?? '';
      const file = await request.get(`/storage/v1/object/public/resources/${slug}.${language}.pdf`);
      expect(file.headers()['content-type']).toBe('application/pdf');
      const seal = (await file.body()).toString('latin1').match(/%words sha256:(\w+)\n$/)?.[1];
      expect(seal, `${slug}.${language}.pdf: npm run print-guides`).toBe(
        createHash('sha256').update(words).digest('hex'),
      );
    }
  }
});
