import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { markets } from '../../src/markets/list.ts';
import type { Miss } from './compare.ts';
import { compareFolder } from './declared.ts';
import { readManifest } from './manifest.ts';
import { Measures, replaceTable, tableOf } from './measure.ts';
import { runFolder } from './run.ts';
import { ratesOf, scoreFolder } from './truth.ts';

const usage = `usage: npm run test:samples -- <folder>… [--market mkta] [--page product] [--write <page>]
A folder has manifest.json with expectations, or truth.json with true values.
--write replaces the table of measures in a page of the documentation.`;

const measures = new Measures();

function showMisses(misses: readonly Miss[]): void {
  for (const { path, expected, got } of misses)
    console.log(`  ${path || 'outcome'}\n    expected ${expected}\n    got      ${got}`);
}

/** Prints the samples that miss expectations, and sets the exit code if there are any. */
async function showSamples(folder: string, market?: string, page?: string): Promise<void> {
  const entries = (await readManifest(folder)).filter(
    (entry) => entry.market === (market ?? entry.market) && entry.page === (page ?? entry.page),
  );
  const skipped = new Map<string, number>();
  const counts = await runFolder(folder, entries, markets, systemClock.now(), (entry, result) => {
    measures.addSample(entry, result);
    if (result.result === 'skipped') skipped.set(result.why, (skipped.get(result.why) ?? 0) + 1);
    if (result.result !== 'missed') return;
    const element = entry.index === undefined ? '' : ` [${entry.index}]`;
    console.log(`${entry.file}${element} (${entry.market} ${entry.page})`);
    showMisses(result.misses);
  });
  for (const [why, count] of skipped) console.log(`${count} skipped: ${why}`);
  console.log(`${counts.held} held, ${counts.missed} missed`);
  const declared = await compareFolder(folder, entries, markets);
  showMisses(declared.misses);
  console.log(
    `${declared.agreed} values agree with declarations, ${declared.misses.length} differ`,
  );
  if (counts.missed > 0 || declared.misses.length > 0 || counts.held === 0) process.exitCode = 1;
}

/** Prints the wrong values of pages with true values, and the scores of their fields. */
async function showScores(folder: string): Promise<void> {
  const score = await scoreFolder(folder);
  for (const { url, field, expected, got } of score.wrong)
    console.log(
      `${url}\n  ${field}: expected ${expected.join(' or ') || 'none'}, got ${got ?? 'none'}`,
    );
  console.log(`${score.pageCount} pages`);
  for (const [field, fieldScore] of Object.entries(score.scores)) {
    const { precision, recall, f1 } = ratesOf(fieldScore);
    const rates = [`precision ${precision.toFixed(3)}`, `recall ${recall.toFixed(3)}`];
    console.log(`${field}: F1 ${f1.toFixed(3)}, ${rates.join(', ')}`);
  }
  measures.addScores(score);
}

const { values, positionals: folders } = parseArgs({
  options: { market: { type: 'string' }, page: { type: 'string' }, write: { type: 'string' } },
  allowPositionals: true,
});
if (folders.length === 0) {
  console.error(usage);
  process.exit(2);
}
for (const folder of folders) {
  const isTruth = existsSync(join(folder, 'truth.json'));
  await (isTruth ? showScores(folder) : showSamples(folder, values.market, values.page));
}
if (values.write !== undefined)
  writeFileSync(
    values.write,
    replaceTable(readFileSync(values.write, 'utf8'), tableOf(measures.list())),
  );
