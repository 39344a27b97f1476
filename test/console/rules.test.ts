import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { useConsole } from './suite.ts';
import { click, clickInDialog, fill, named, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`the rules page${skipped}`, () => {
  const suite = useConsole();

  test('creates a rule for a marketplace, a region, and a series, and changes it', async () => {
    const user = await suite.createUser('Rules Ltd', 1_000);
    const items = [{ product_id: '1729000077011', country: 'th' }];
    await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit?track=weekly', { items });
    const page = await suite.open(user.key, '/rules');
    await click(page, 'button', 'Create rule');
    await fill(page, 'textbox', 'Percent', '5');
    const select = (name: string, value: string) => fill(page, 'combobox', name, value);
    await page.waitForSelector('option[value=mktd]');
    await select('Marketplace', 'mktd');
    await select('Region', 'th');
    await page.waitForSelector('option[value=weekly]');
    await select('Series', 'weekly');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'TikTok Shop, Thailand (th), series weekly');
    await waitForText(page, 'Your account has no enabled webhook.');
    await click(page, 'button', 'Edit Price falls by 5 %');
    await page.waitForSelector('option[value=mktb]');
    await select('Marketplace', 'mktb');
    await select('Condition', 'back_in_stock');
    await clickInDialog(page, 'Save');
    await waitForText(page, 'Tokopedia, series weekly');
    const { rules } = (await suite.env.api.get(user, '/v1/rules')).body;
    expect(rules).toMatchObject([{ condition: 'back_in_stock', market: 'mktb', series: 'weekly' }]);
    expect(rules[0].region ?? '').toBe('');
  });

  test('shows at its input why a rule is refused', async () => {
    const user = await suite.createUser('No mail Ltd', 0);
    const page = await suite.open(user.key, '/rules');
    await click(page, 'button', 'Create rule');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'Field required for the condition price_falls_by');
    await fill(page, 'textbox', 'Percent', '2,5');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'Enter a number, such as 5 or 2.5.');
    await fill(page, 'textbox', 'Percent', '10 %');
    await fill(page, 'combobox', 'Message', 'email');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'This service sends no email');
  });

  test('returns the focus to the button that opened a dialog', async () => {
    const user = await suite.createUser('Keyboard Ltd', 0);
    const page = await suite.open(user.key, '/rules');
    await page.locator(named('button', 'Create rule')).wait();
    await page.focus(named('button', 'Create rule'));
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=dialog][data-had-focus]');
    await page.keyboard.press('Escape');
    await page.waitForFunction(`document.activeElement.textContent === 'Create rule'`);
  });
});
