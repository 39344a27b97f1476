import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { markets } from '../../src/markets/list.ts';
import { compareFolder } from './declared.ts';
import { readManifest } from './manifest.ts';
import { runFolder } from './run.ts';
import { ratesOf, scoreFolder } from './truth.ts';

/** Prints the wrong values of pages with known values, and the scores of their fields. */
async function showScores(folder: string): Promise<void> {
  const { pageCount, scores, wrong } = await scoreFolder(folder);
  for (const { url, field, expected, got } of wrong)
    console.log(`${url}\n  ${field}: expected ${expected.join(' or ') || 'none'}, got ${got ?? 'none'}`);
  console.log(`${pageCount} pages`);
  for (const [field, score] of Object.entries(scores)) {
    const { precision, recall, f1 } = ratesOf(score);
    const rates = [`precision ${precision.toFixed(3)}`, `recall ${recall.toFixed(3)}`];
    console.log(`${field}: F1 ${f1.toFixed(3)}, ${rates.join(', ')}`);
  }
}

const { values, positionals } = parseArgs({
  options: { market: { type: 'string' }, page: { type: 'string' }, truth: { type: 'boolean' } },
  allowPositionals: true,
});
const folder = positionals[0];
if (folder === undefined || positionals.length > 1) {
  console.error(
    'usage: npm run test:samples -- <folder with manifest.json> [--market mkta] [--page product]\n' +
      '       npm run test:samples -- <folder with truth.json> --truth',
  );
  process.exit(2);
}
if (values.truth) {
  await showScores(folder);
  process.exit();
}
const entries = (await readManifest(folder)).filter(
  ({ market, page }) => market === (values.market ?? market) && page === (values.page ?? page),
);
const skipped = new Map<string, number>();
const counts = await runFolder(folder, entries, markets, systemClock.now(), (entry, result) => {
  if (result.result === 'skipped') skipped.set(result.why, (skipped.get(result.why) ?? 0) + 1);
  if (result.result !== 'missed') return;
  const element = entry.index === undefined ? '' : ` [${entry.index}]`;
  console.log(`${entry.file}${element} (${entry.market} ${entry.page})`);
  for (const { path, expected, got } of result.misses) {
    console.log(`  ${path === '' ? 'outcome' : path}\n    expected ${expected}\n    got      ${got}`);
  }
});
for (const [why, count] of skipped) console.log(`${count} skipped: ${why}`);
console.log(`${counts.held} held, ${counts.missed} missed`);
const declared = await compareFolder(folder, entries, markets);
for (const { path, expected, got } of declared.misses)
  console.log(`  ${path}\n    expected ${expected}\n    got      ${got}`);
console.log(`${declared.agreed} values agree with declarations, ${declared.misses.length} differ`);
if (counts.missed > 0 || declared.misses.length > 0 || counts.held === 0) process.exitCode = 1;
