import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { priceAmount, shownAmount } from '../../../src/markets/money.ts';
import { findEngine } from '../../engines/missing.ts';
import { root } from '../../support/service.ts';
import { findPythonPackages, install, run } from '../clients/tools.ts';

/** A text of the tests of price-parser, which are in its source package only. */
interface Example {
  text: string | null;
  amount: number | null;
  /** True if price-parser reads another amount. */
  fails: boolean;
}

const version = '0.5.1';
const packages = await findEngine(
  findPythonPackages(`price-parser-${version}`, [`price-parser==${version}`]),
);
const source = await findEngine(
  install(`price-parser-source-${version}`, async (folder) => {
    const options = ['--quiet', '--no-deps', '--no-binary', ':all:', '--dest', folder];
    await run('python3', ['-m', 'pip', 'download', ...options, `price-parser==${version}`], { cwd: folder });
    const [archive] = await readdir(folder);
    await run('tar', ['-xzf', archive!], { cwd: folder });
  }),
);

test.skipIf('missing' in packages || 'missing' in source)(
  'a declared price is read from at least as many texts as by price-parser',
  async () => {
    if ('missing' in packages || 'missing' in source) return;
    const script = join(root, 'test/system/readers/read_prices.py');
    const env = { PYTHONPATH: packages.folder, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run('python3', [script, source.folder], { cwd: root, env });
    const examples = (JSON.parse(stdout) as Example[]).filter(({ text }) => text !== null);
    expect(examples.length).toBeGreaterThan(1_000);
    const reads = (read: (text: string) => number | null) =>
      examples.filter(({ text, amount }) => read(text!) === amount).length;
    expect(reads(shownAmount)).toBeGreaterThanOrEqual(examples.filter(({ fails }) => !fails).length);
    // The strict reader of marketplaces reads fewer texts, and none wrongly.
    const wrong = examples.filter(({ text, amount }) => ![amount, null].includes(priceAmount(text!)));
    expect(wrong).toEqual([]);
  },
  120_000,
);
