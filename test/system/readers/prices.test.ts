import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { priceAmount, shownAmount } from '../../../src/markets/money/money.ts';
import { findEngine } from '../../engines/missing.ts';
import { root } from '../../support/service/service.ts';
import { findPythonPackages, install, run } from '../clients/tools.ts';

/** A text of the tests of price-parser, which are in its source package only. */
interface Example {
  text: string | null;
  amount: number | null;
}

const version = '0.5.1';
const packages = await findEngine(
  findPythonPackages(`price-parser-${version}`, [`price-parser==${version}`]),
);
const source = await findEngine(
  install(`price-parser-source-${version}`, async (folder) => {
    const options = ['--quiet', '--no-deps', '--no-binary', ':all:', '--dest', folder];
    await run('python3', ['-m', 'pip', 'download', ...options, `price-parser==${version}`], {
      cwd: folder,
    });
    const [archive] = await readdir(folder);
    await run('tar', ['-xzf', archive!], { cwd: folder });
  }),
);

test.skipIf('missing' in packages || 'missing' in source)(
  'no text of the tests of price-parser is read as another price',
  async () => {
    if ('missing' in packages || 'missing' in source) return;
    const script = join(root, 'test/system/readers/read_prices.py');
    const env = { PYTHONPATH: packages.folder, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run('python3', [script, source.folder], { cwd: root, env });
    const examples = (JSON.parse(stdout) as Example[]).filter(({ text }) => text !== null);
    expect(examples.length).toBeGreaterThan(1_000);
    const isWrong = (read: (text: string) => number | null, { text, amount }: Example) =>
      ![amount, null].includes(read(text!));
    // A price in Hungarian forints, which price-parser takes for a length in feet.
    const forints = '16.00 ft';
    for (const read of [shownAmount, priceAmount]) {
      const wrong = examples.filter((example) => isWrong(read, example)).map(({ text }) => text);
      expect(wrong.filter((text) => text !== forints)).toEqual([]);
    }
    // Ranges, two prices, rates, and unknown currencies are null.
    const right = examples.filter(
      ({ text, amount }) => amount !== null && shownAmount(text!) === amount,
    );
    expect(right.length).toBeGreaterThan(850);
  },
  120_000,
);
