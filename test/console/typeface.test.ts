import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { root } from '../support/service/service.ts';
import { useConsole } from './suite.ts';

const assets = join(root, 'console/dist/assets');

// Scripts as text: they run in the browser.
const loadedFaces = `document.fonts.ready.then(() =>
  [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family))`;

/** Sizes of a text in Inter, and in each scaled font of the system that is installed. */
const sizes = `(async () => {
  const sizeIn = (family) => {
    const element = document.createElement('span');
    element.textContent = 'Awaiting approval: 49 of 50 units of the job have been collected';
    element.style.font = '32px/normal "' + family + '"';
    document.body.append(element);
    const { width, height } = element.getBoundingClientRect();
    element.remove();
    return { family, width, height };
  };
  const families = [...new Set([...document.fonts].map(({ family }) => family.replaceAll('"', '')))];
  const installed = [];
  for (const family of families)
    if ((await document.fonts.load('32px "' + family + '"').catch(() => [])).some((face) => face.status === 'loaded'))
      installed.push(family);
  return installed.map(sizeIn);
})()`;

interface TextSize {
  family: string;
  width: number;
  height: number;
}

describe.skipIf('missing' in chromium)(`the typeface${skipped}`, () => {
  const suite = useConsole();
  let fontFiles: string[];
  beforeAll(async () => {
    fontFiles = (await readdir(assets)).filter((name) => name.endsWith('.woff2'));
  });

  test.each(['/console', '/docs', '/docs/guide'])('is loaded by %s', async (path) => {
    const { page } = await suite.openEmptyTab();
    await page.goto(new URL(path, suite.env.url).href);
    await page.waitForSelector('h1');
    expect(await page.evaluate(loadedFaces)).toContain('Inter');
  });

  test('has files of at most 25 kB', async () => {
    expect(fontFiles).toHaveLength(2);
    for (const name of fontFiles)
      expect((await stat(join(assets, name))).size).toBeLessThan(25_000);
  });

  test('has fallbacks of its size, so that nothing moves when it is loaded', async () => {
    const { page } = await suite.openEmptyTab();
    await page.goto(suite.env.url);
    await page.waitForSelector('h1');
    const [inter, ...fallbacks] = (await page.evaluate(sizes)) as TextSize[];
    expect(inter!.family).toBe('Inter');
    for (const { family, width, height } of fallbacks) {
      expect(Math.abs(width / inter!.width - 1), family).toBeLessThan(0.03);
      expect(height, family).toBe(inter!.height);
    }
  });
});
