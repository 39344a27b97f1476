import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { bodyText, useConsole } from './suite.ts';
import { click, fill, waitForText } from './tab.ts';

/** Addresses of a product of each marketplace, and the fields that they fill in. */
const addresses = [
  [
    'mkta',
    'https://mkta.example.co.id/Lampu-Meja-i.7003.32000000001?sp=1',
    'id',
    ['32000000001', '7003'],
  ],
  [
    'mktb',
    'https://www.tokopedia.com/toko-7/barang-1001?src=topads',
    '',
    ['barang-1001', 'toko-7'],
  ],
  [
    'mktc',
    'https://mktc.example/p/a/ps--GLN-60001-10001?ds=GLN-60001-10001-00001&pickupPointCode=PP-3000001',
    '',
    ['ps--GLN-60001-10001', 'GLN-60001-10001-00001', 'PP-3000001', ''],
  ],
  [
    'mktd',
    'https://shop.mktd.example/view/product/1729000076001?region=TH',
    'th',
    ['1729000076001'],
  ],
  ['mkte', 'https://www.mkte.example.co.jp/Desk-Lamp/dp/B0GLN01001/ref=sr_1', 'jp', ['B0GLN01001']],
] as const;

describe.skipIf('missing' in chromium)(`the page for one product${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open } = suite;

  test.each(addresses)(
    '%s: fills in an address, and shows the record as fields and JSON',
    async (market, address, region, values) => {
      const user = await createUser('Curious Ltd', 10);
      const page = await open(user.key, `/try?market=${market}`);
      await fill(page, 'textbox', 'Address or ID of the product', address);
      await page.waitForFunction(
        `JSON.stringify([...document.querySelectorAll('form input')].map(({ value }) => value)) === '${JSON.stringify(values)}'`,
      );
      if (region !== '') await page.locator('form select').fill(region);
      await waitForText(page, 'per unit), charged at submit');
      await waitForText(page, '/submit?wait=30');
      await click(page, 'button', 'Get product');
      await page.waitForSelector('[role=group][aria-label=Item]');
      await click(page, 'tab', 'JSON');
      await page.waitForSelector('[aria-label="Record as JSON"]');
      expect(await bodyText(page)).toContain(values[0]);
      await click(page, 'link', 'Open the job');
      await waitForText(page, '1 of 1', 30_000);
    },
  );

  test('selects the marketplace of an address', async () => {
    const user = await createUser('Mixed Ltd', 10);
    const page = await open(user.key, '/try');
    const [, address] = addresses[1];
    await fill(page, 'textbox', 'Address or ID of the product', address);
    await waitForText(page, '/v1/mktb/pdp/bulk/submit?wait=30');
    await fill(page, 'textbox', 'Address or ID of the product', 'amazon.de/dp/B0GLN01001');
    await waitForText(page, '/v1/mkte/pdp/bulk/submit?wait=30');
    await fill(page, 'textbox', 'Address or ID of the product', 'https://shop.example/p/mug');
    await waitForText(page, 'None of these marketplaces has this address of a product.');
  });

  test('shows why there is no record, and the refund', async () => {
    const user = await createUser('Unlucky Ltd', 10);
    const page = await open(user.key, '/try?market=mktd');
    await fill(page, 'textbox', 'Address or ID of the product', 'a lamp');
    await waitForText(page, 'TikTok Shop has no such ID. Select the marketplace');
    await fill(page, 'textbox', 'Address or ID of the product', '1729000076800');
    await page.locator('form select').fill('th');
    await click(page, 'button', 'Get product');
    await waitForText(page, 'page_not_found', 30_000);
    await waitForText(page, '5 credits refunded');
    expect((await suite.env.api.get(user, '/v1/account')).body.account.balance).toBe(10);
  });

  test('shows the shortfall of a submit that is refused', async () => {
    const user = await createUser('Poor Ltd', 3);
    const page = await open(user.key, '/try?market=mktd');
    await fill(page, 'textbox', 'Address or ID of the product', '1729000076001');
    await page.locator('form select').fill('th');
    await click(page, 'button', 'Get product');
    await waitForText(page, 'Job not submitted');
  });
});
