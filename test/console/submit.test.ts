import type { Page } from 'puppeteer-core';
import { describe, expect, test } from 'vitest';
import { exampleBody } from '../../console/src/ui/examples/examples.ts';
import { jobTypes } from '../../src/contract/job-types.ts';
import { splitRequest } from '../../src/contract/rest-form.ts';
import { chromium, skipped } from '../browser/chromium.ts';
import { bodyText, useConsole } from './suite.ts';
import { click, fill, named, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`the submit page${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open } = suite;

  test('offers jobs by purpose with their price, and runs an example on test data with one click', async () => {
    const user = await createUser('Example Ltd', 0);
    const page = await open(user.key, '/submit');
    await waitForText(page, 'Variants with units sold');
    await waitForText(page, '10 credits per unit');
    await waitForText(page, 'Needs approval');
    await page.focus('#content a[href$="/submit/mkte/pdp_bulk"]');
    await page.keyboard.press('Tab');
    await page.keyboard.down('Shift');
    await page.keyboard.press('Tab');
    await page.keyboard.up('Shift');
    const outline = '(({ outlineStyle, outlineWidth }) => outlineStyle + " " + outlineWidth)';
    const focused = `${outline}(getComputedStyle(document.activeElement))`;
    expect(await page.evaluate(focused)).toBe('solid 2px');
    await click(page, 'button', 'Run an example of Product page bulk on Amazon');
    await waitForText(page, '3 of 3 collected', 30_000);
    expect(await bodyText(page)).toContain('Test data');
    expect((await suite.env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
  });

  test('has examples that the service accepts', async () => {
    const user = await createUser('Examples Ltd', 0);
    const key = { user_id: user.id, name: 'test', mode: 'test' };
    const { apiKey } = await suite.env.api.operator('CreateApiKey', key);
    const bodies = jobTypes
      .filter(({ market }) => market !== 'sites')
      .map((jobType) => [jobType, exampleBody(jobType)] as const);
    const missing = bodies
      .filter(([, body]) => body === null)
      .map(([{ market, kind }]) => `${market} ${kind}`);
    expect(missing).toEqual(['mkta get_pc_bulk']);
    for (const [jobType, body] of bodies) {
      if (body === null) continue;
      const { path, body: rest } = splitRequest(jobType.endpoint.path, JSON.parse(body));
      const response = await suite.env.api.post(
        { id: '', key: apiKey },
        `${path}?validate_only=true`,
        rest,
      );
      expect([path, response.status, response.body.refusals]).toEqual([path, 200, []]);
    }
  });

  test('submits by form and shows validation errors', async () => {
    const user = await createUser('Form Ltd', 1_000);
    const page = await open(user.key, '/submit/mkte/pdp_bulk');
    await fill(page, 'textbox', 'Items', 'short');
    await waitForText(page, 'Line 1: Must be 10 letters and digits');
    await click(page, 'button', 'Submit');
    await waitForText(page, 'Required');
    await fill(page, 'textbox', 'Items', 'B0GLN01001');
    await page.locator('main select').fill('us');
    await click(page, 'button', 'Submit');
    await waitForText(page, '1 of 1', 30_000);
    expect(page.url()).toMatch(/\/console\/jobs\/[0-9a-f-]{36}$/);
  });

  test('shows the warnings of a submit: a region without an origin, and ignored fields', async () => {
    const user = await createUser('Warned Ltd', 1_000);
    const page = await open(user.key, '/submit/mkta/variant_sold');
    await click(page, 'tab', 'JSON');
    const body = {
      country: 'br',
      items: [{ item_id: '83000000001', shop_id: '7', colour: 'red' }],
    };
    await fill(page, 'textbox', 'Body', JSON.stringify(body));
    await click(page, 'button', 'Submit');
    await waitForText(page, 'No origin is configured for mkta/br.');
    await waitForText(page, 'Unknown fields were ignored: items[].colour');
    await waitForText(page, 'Awaiting approval');
  });

  const paste = (page: Page, selector: string, text: string) =>
    page.evaluate(`(() => {
      const input = document.querySelector(${JSON.stringify(selector)});
      input.focus();
      input.select();
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', ${JSON.stringify(text)});
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      if (input.dispatchEvent(event)) document.execCommand('insertText', false, ${JSON.stringify(text)});
    })()`);

  test('fills rows from pasted cells by their titles and shows a missing country once, at its field', async () => {
    const user = await createUser('Pasted Ltd', 1_000);
    const page = await open(user.key, '/submit/mkta/variant_sold');
    await page.waitForSelector(named('textbox', 'Item ID'));
    await page.evaluate(`(() => {
      const input = [...document.querySelectorAll('fieldset input')][0];
      const clipboardData = new DataTransfer();
      const rows = ['Product\\tShop ID\\tItem ID', 'a\\t7\\t82000000001', 'b\\t7\\t82000000002'];
      clipboardData.setData('text', [...rows, 'c\\t7\\t82000000003'].join('\\n'));
      input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    })()`);
    await click(page, 'button', 'Submit 3 units');
    await waitForText(page, 'Required');
    expect(await page.$$('.mantine-InputWrapper-error')).toHaveLength(1);
    await page.locator('form select').fill('sg');
    await waitForText(page, 'Cost: 30 credits (10 per unit), charged at approval');
    await waitForText(page, 'Balance: 1,000, 970 afterwards');
    await click(page, 'button', 'Submit 3 units');
    await waitForText(page, 'Awaiting approval');
    const { jobs } = (await suite.env.api.get(user, '/v1/jobs')).body;
    expect(jobs).toMatchObject([{ total: 3, region: 'sg' }]);
  });

  test('takes a pasted list of 60 ids and addresses, and names the lines with problems', async () => {
    const user = await createUser('Listed Ltd', 1_000);
    const page = await open(user.key, '/submit/mktd/pdp_bulk');
    const ids = Array.from({ length: 60 }, (_, at) => String(1_729_000_091_011 + at * 1_000));
    await page.locator(named('textbox', 'Items')).wait();
    await paste(page, 'textarea', [...ids, 'x1', `${ids[0]}, xx`].join('\n'));
    await waitForText(page, 'Line 61: Must be');
    await waitForText(page, 'Line 62: "xx" is not one of id, my, sg,');
    await waitForText(page, 'The cost appears here when the request is complete.');
    await click(page, 'button', 'Line 61');
    await page.waitForFunction(`getSelection().toString() === 'x1'`);
    await paste(page, 'textarea', ids.map((id) => `${id}, th`).join('\r\n'));
    await waitForText(page, '60 units in the list.');
    await waitForText(page, 'Cost: ');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await page.waitForFunction(`location.pathname.startsWith('/console/jobs/')`);
    const { jobs } = (await suite.env.api.get(user, '/v1/jobs')).body;
    expect(jobs).toMatchObject([{ total: 60 }]);
  });

  test('names all lines with problems at once, and reads addresses as browsers show them', async () => {
    const user = await createUser('Mixed Ltd', 1_000);
    const page = await open(user.key, '/submit/mkte/pdp_bulk');
    await page.locator(named('textbox', 'Items')).wait();
    await paste(page, 'textarea', 'B0GLN01001\nshort\n\nhttps://www.example.org/x\n');
    await waitForText(page, 'Line 2: Must be 10 letters and digits');
    await waitForText(page, 'Line 4: "https://www.example.org/x" is not the address of a product');
    await waitForText(page, 'Correct the problems to submit the list.');
    const urls = [
      'www.amazon.de/gp/product/B0GLN01001',
      'https://www.amazon.fr/dp/B0GLN01002?tag=x',
    ];
    await paste(page, 'textarea', [...urls, 'B0GLN01003, B0GLN01004, B0GLN01005'].join('\n'));
    await waitForText(page, '5 units in the list.');
    await waitForText(page, 'Fill in Country to see the cost.');
  });

  test('reads a file with semicolons into the list', async () => {
    const user = await createUser('Filed Ltd', 1_000);
    const page = await open(user.key, '/submit/mkte/pdp_bulk');
    await page.locator('::-p-text(Open a file)').wait();
    await page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(['note;ASIN;Country\\nx;B0GLN01001;US\\n'], 'list.csv', { type: 'text/csv' }));
      const input = document.querySelector('input[type=file]');
      input.files = data.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
    await waitForText(page, '1 unit in the list. Columns not used: note.');
    await waitForText(page, 'Cost: 5 credits');
  });

  test('renders nothing for a key among 2,000 lines', async () => {
    const user = await createUser('Quick Ltd', 10);
    const page = await open(user.key, '/submit/mkte/pdp_bulk');
    await page.locator(named('textbox', 'Items')).wait();
    const lines = Array.from({ length: 2_000 }, (_, at) => `B0${String(10_000_000 + at)}`);
    await page.evaluate(`(() => {
      const area = document.querySelector('textarea');
      const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value');
      set.call(area, ${JSON.stringify(lines.join('\n'))});
      area.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    await waitForText(page, '2,000 units in the list.');
    // React renders hidden panels when it is idle.
    const hiddenTexts = ['Maximum cost', 'The first row is the header', 'Sent unchanged as'];
    await page.waitForFunction(
      `${JSON.stringify(hiddenTexts)}.every((text) => document.body.textContent.includes(text))`,
    );
    const changes = await page.evaluate(`(async () => {
      const area = document.querySelector('textarea');
      area.focus();
      area.setSelectionRange(area.value.length, area.value.length);
      // What follows a pause is rendered after the keys, however long they take.
      const { setTimeout, clearTimeout } = window;
      const held = new Map();
      let lastId = 0;
      window.setTimeout = (...timer) => {
        lastId -= 1;
        held.set(lastId, timer);
        return lastId;
      };
      window.clearTimeout = (id) => held.delete(id) || clearTimeout(id);
      const changed = [];
      const observer = new MutationObserver((records) => changed.push(...records));
      observer.observe(document.querySelector('#content'), {
        subtree: true, childList: true, characterData: true, attributes: true,
      });
      for (const key of '\\nB0GLN01001') {
        document.execCommand('insertText', false, key);
        await new Promise((next) => setTimeout(next));
      }
      observer.disconnect();
      Object.assign(window, { setTimeout, clearTimeout });
      for (const timer of held.values()) setTimeout(...timer);
      return changed.filter(({ target }) => !area.contains(target))
        .map(({ target }) => target.textContent.slice(0, 80));
    })()`);
    expect(changes).toEqual([]);
    await waitForText(page, 'Submit at most 2,000 at once.');
  });

  test('does not submit with Enter, which moves to the next row', async () => {
    const user = await createUser('Enter Ltd', 1_000);
    const page = await open(user.key, '/submit/mktb/pdp_bulk');
    await fill(page, 'textbox', 'Product key', 'barang-1001');
    await page.focus('fieldset input');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.querySelectorAll('fieldset').length === 2`);
    const focused = `[...document.querySelectorAll('fieldset')].map((row) => row.contains(document.activeElement))`;
    expect(await page.evaluate(focused)).toEqual([false, true]);
    expect(page.url()).toContain('/submit/');
    expect((await suite.env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
  });

  test('shows a pasted list that is too long for the rows as a file', async () => {
    const user = await createUser('Long Ltd', 1_000);
    const page = await open(user.key, '/submit/mkta/variant_sold');
    await page.locator(named('textbox', 'Item ID')).wait();
    await page.locator('form select').fill('sg');
    const rows = Array.from({ length: 60 }, (_, at) => `${84_000_000_001 + at}\t7`);
    await paste(page, 'fieldset input', rows.join('\n'));
    await waitForText(page, 'items.csv');
    await waitForText(page, 'Cost: 600 credits');
    await click(page, 'tab', 'Form');
    await paste(page, 'fieldset input', 'https://mkta.example.co.id/x-i.7.42');
    await page.waitForFunction(`document.querySelector('form select').value === 'id'`);
    expect(await page.evaluate(`document.querySelector('fieldset input').value`)).toBe('42');
  });

  test('submits the rows of a CSV file and names invalid lines', async () => {
    const user = await createUser('Rows Ltd', 1_000);
    const page = await open(user.key, '/submit/mktd/pdp_bulk');
    await click(page, 'tab', 'CSV file');
    const drop = async (text: string) => {
      const transfer = `(() => {
        const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(text)}], 'rows.csv', { type: 'text/csv' }));
        const input = document.querySelector('input[aria-label="CSV file"]');
        input.files = data.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      })()`;
      await page.waitForSelector('input[aria-label="CSV file"]');
      await page.evaluate(transfer);
    };
    await drop('product_id,country\n1729000000001,sg\n1729000000002,xx\n');
    await waitForText(page, 'Line 3, country');
    await drop('country,product_id\nsg,1729000000001\nmy,1729000000003\n');
    await click(page, 'button', 'Submit 2 units');
    await waitForText(page, '2 of 2', 30_000);
  });

  test('shows the quote of a form before it is submitted', async () => {
    const user = await createUser('Quoted Ltd', 13);
    const page = await open(user.key, '/submit/mkta/get_pc');
    // No test requests this origin: the duration depends on the requests of the last hour.
    await page.locator('select').fill('tw');
    await fill(page, 'textbox', 'Item ID', '32000000001');
    await fill(page, 'textbox', 'Shop ID', '7003');
    await waitForText(page, 'Cost: 8 credits (8 per unit), charged at submit');
    await waitForText(page, 'Takes: about 1 s without other jobs');
    expect((await suite.env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
    expect((await suite.env.api.get(user, '/v1/account')).body.account.balance).toBe(13);
  });

  test('shows the problems of each row of an uploaded file before it is submitted, then its quote', async () => {
    const user = await createUser('Uploaded Ltd', 10);
    const page = await open(user.key, '/submit/mkta/get_pc_bulk');
    const drop = async (...rows: string[]) => {
      await page.waitForSelector('input[type=file]');
      await page.evaluate(`(() => {
        const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(['region,shop_id,item_id', ...rows].join('\n'))}], 'rows.csv'));
        const input = document.querySelector('input[type=file]');
        input.files = data.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      })()`);
    };
    await drop('sg,7,x', 'sg,7,20101', 'xx,7,20101');
    await waitForText(page, 'This request would be refused');
    await waitForText(page, 'file.1.item_id: "x" is not an id');
    await waitForText(page, 'file.3.region: "xx" is not one of');
    await drop('sg,7,20101', 'sg,7,20101');
    await waitForText(page, 'One unit is the same as an earlier one.');
    await waitForText(page, 'The work costs 16 credits, the account has 10: 6 short.');
    expect((await suite.env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
  });

  test('repeats a request by a schedule, and starts a run of it', async () => {
    const user = await createUser('Scheduled Ltd', 20);
    const page = await open(user.key, '/submit/mkta/get_pc');
    await page.locator('select').fill('th');
    await fill(page, 'textbox', 'Item ID', '32000000001');
    await fill(page, 'textbox', 'Shop ID', '7003');
    await click(page, 'button', 'Schedule');
    await fill(page, 'textbox', 'Name', 'Every leap day');
    await fill(page, 'combobox', 'Repeat', 'custom');
    await fill(page, 'textbox', 'Cron expression', '0 8 30 2 *');
    await waitForText(page, '"0 8 30 2 *" never occurs');
    await fill(page, 'textbox', 'Cron expression', '0 8 29 2 *');
    await waitForText(page, '2032');
    await click(page, 'button', 'Create schedule');
    await waitForText(page, 'The first run starts at the next time.');
    await waitForText(page, 'What each run collects');
    await waitForText(page, 'Thailand (th)');
    await waitForText(page, '32000000001');
    await waitForText(page, 'In your time zone, Asia/Jakarta.');
    await click(page, 'button', 'Edit');
    await waitForText(page, 'is changed on its page');
    await fill(page, 'textbox', 'Maximum credits of all runs', '20.5');
    await click(page, 'button', 'Save');
    await waitForText(page, 'Enter a whole number of credits.');
    await fill(page, 'textbox', 'Maximum credits of all runs', '20');
    await fill(page, 'textbox', 'Name', 'Every leap day at noon');
    await fill(page, 'textbox', 'Cron expression', '0 12 29 2 *');
    await waitForText(page, '12:00');
    // A click beside the dialog keeps it and its input.
    await page.mouse.click(3, 3);
    await click(page, 'button', 'Save');
    await waitForText(page, 'Every leap day at noon');
    await waitForText(page, '0 12 29 2 * (');
    await click(page, 'button', 'Run now');
    await waitForText(page, 'Started by you');
    await waitForText(page, 'Completed', 30_000);
    const { jobs } = (await suite.env.api.get(user, '/v1/jobs')).body;
    expect(jobs.map(({ kind, status }: Record<string, string>) => [kind, status])).toEqual([
      ['get_pc', 'completed'],
    ]);
    expect((await suite.env.api.get(user, '/v1/schedules')).body.schedules).toMatchObject([
      { name: 'Every leap day at noon', cron: '0 12 29 2 *', credits_spent: 8 },
    ]);
  });

  test.each([
    ['mktc/pdp_bulk', 'Paste a list, product addresses, or cells of a spreadsheet to fill'],
    ['mkte/search_bulk', 'Paste a list or cells of a spreadsheet to fill'],
  ])('says what the rows of %s can be pasted from', async (kind, help) => {
    const user = await createUser('Rows Ltd', 0);
    await waitForText(await open(user.key, `/submit/${kind}`), help);
  });

  test('offers the declared shops', async () => {
    const user = await createUser('Shops Ltd', 20);
    const page = await open(user.key, '/submit/sites/pdp_bulk');
    await page.waitForSelector('option[value=example]');
    await fill(page, 'combobox', 'Site', 'example');
    await fill(page, 'textbox', 'Pages', 'https://shop.example/p/10001');
    await waitForText(page, 'Cost: 1 credit (1 per unit)');
  });

  test('repeats a request every week without a cron expression', async () => {
    const user = await createUser('Weekly Ltd', 20);
    const page = await open(user.key, '/submit/mkte/pdp_bulk');
    await fill(page, 'textbox', 'Items', 'B0GLN01001, de');
    await click(page, 'button', 'Schedule');
    await fill(page, 'combobox', 'Repeat', 'weekly');
    await fill(page, 'combobox', 'Day', '5');
    await click(page, 'button', 'Create schedule');
    await waitForText(page, 'Every Friday at 08:00');
  });

  test('changes what a schedule collects, and with which options', async () => {
    const user = await createUser('Changing Ltd', 100);
    const request = { items: [{ asin: 'B0GLN01001', country: 'jp' }] };
    const { body: schedule } = await suite.env.api.post(user, '/v1/schedules', {
      name: 'Leap',
      market: 'mkte',
      kind: 'pdp_bulk',
      cron: '0 8 29 2 *',
      request,
      options: { max_credits: 90 },
    });
    const page = await open(user.key, `/schedules/${schedule.schedule_id}`);
    await click(page, 'button', 'Change');
    await waitForText(page, 'The runs collect what you save here');
    await waitForText(page, 'Options (1 set)');
    await waitForText(page, 'A run at this moment:');
    await fill(page, 'textbox', 'Items', 'B0GLN01002\nB0GLN01003');
    await click(page, 'button', 'Save to schedule');
    await waitForText(page, 'What each run collects');
    await waitForText(page, 'B0GLN01003');
    const path = `/v1/schedules/${schedule.schedule_id}`;
    expect((await suite.env.api.get(user, path)).body).toMatchObject({
      cron: '0 8 29 2 *',
      options: { max_credits: 90 },
      request: { items: ['B0GLN01002', 'B0GLN01003'].map((asin) => ({ asin, country: 'jp' })) },
      units: 2,
    });
  });

  test('tracks a job in a series and reuses results by its options', async () => {
    const user = await createUser('Tracked Ltd', 100);
    const page = await open(user.key, '/submit/mktd/pdp_bulk');
    await page.locator('main select').fill('th');
    await fill(page, 'textbox', 'Items', '1729000076001');
    await click(page, 'button', 'Options');
    await waitForText(page, 'You have no destinations.');
    expect(await bodyText(page)).not.toContain('Deliver only');
    await page.locator('::-p-xpath(//label[contains(., "Track changes")])').click();
    await fill(page, 'textbox', 'Series', 'weekly');
    await fill(page, 'combobox', 'Reuse results up to', '6h');
    await waitForText(page, 'Options (2 set)');
    await click(page, 'button', 'Submit');
    await page.waitForFunction(`location.pathname.startsWith('/console/jobs/')`);
    await waitForText(page, 'Series weekly');
    const { jobs } = (await suite.env.api.get(user, '/v1/jobs')).body;
    expect(jobs).toMatchObject([{ options: { track: 'weekly', max_age: '6h' } }]);
  });

  test('shows the shortfall of a rejected submit', async () => {
    const user = await createUser('Empty Ltd', 3);
    const page = await open(user.key, '/submit/mkta/get_pc');
    await page.locator('select').fill('th');
    await fill(page, 'textbox', 'Item ID', '32000000001');
    await fill(page, 'textbox', 'Shop ID', '7003');
    await waitForText(page, 'The work costs 8 credits, the account has 3: 5 short.');
    await click(page, 'button', 'Submit');
    await waitForText(page, 'Job not submitted');
    await waitForText(page, '5 short');
  });
});
