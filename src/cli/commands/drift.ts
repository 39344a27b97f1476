import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import {
  type FieldDrift,
  FieldDriftSchema,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { shellWord } from '../../base/shell-word.ts';
import { formatPercent } from '../../present/text.ts';
import { addCommand } from './command.ts';
import { marketPath } from './market-names.ts';
import { jsonLine, plain } from './print.ts';
import { addShow } from './resource.ts';

export function addDriftCommands(program: Command): void {
  const { listDriftAlarms, acceptDrift } = OperatorService.method;
  const drift = program.command('drift').description('See fields that went missing from pages');
  addCommand<{ market?: string; all?: true }>(drift, {
    usage: 'list',
    about: 'List fields that went missing from pages, each with an example',
    options: [
      ['--market <market>', 'filter by market'],
      ['--all', 'include fields without an alarm'],
    ],
    as: 'operator',
    async run({ client, isJson, note, write }, { market = '', all = false }) {
      const { alarms } = await client.call(listDriftAlarms, { market: marketPath(market), all });
      if (isJson) for (const alarm of alarms) await write(jsonLine(FieldDriftSchema, alarm));
      else if (alarms.length === 0) note('No drift detected.');
      else await write(`${alarms.flatMap(driftLines).map(plain).join('\n')}\n`);
    },
  });
  addShow(drift, {
    usage: 'accept <market> <page> [field]',
    about: 'End alarms, and make the newest pages the new baseline',
    method: acceptDrift,
    words: ({ fields }) =>
      fields.length === 0 ? 'No such alarm.\n' : `Accepted: ${fields.join(', ')}\n`,
  });
}

/** Formats a field's drift, and the command that shows an example page. */
export function driftLines(drift: FieldDrift): string[] {
  const { market, page, field, pages, since, exampleUnit, exampleRegion } = drift;
  const { absentShare, contradictedShare, usualShare: baselineShare } = drift;
  const baseline =
    baselineShare === undefined ? 'no baseline yet' : `baseline: ${formatPercent(baselineShare)}`;
  const start = since ? `, since ${timestampDate(since).toISOString()}` : '';
  // The first pages only establish the baseline.
  const newest =
    pages === 0
      ? 'no newer pages'
      : `missing from ${formatPercent(absentShare)} of the last ${pages} pages`;
  const contradicted =
    contradictedShare > 0 ? `, contradicted on ${formatPercent(contradictedShare)} of them` : '';
  const line = `${market} ${page} ${field}: ${newest}${contradicted} (${baseline}${start})`;
  if (exampleUnit === '') return [line];
  const region = exampleRegion === '' ? '' : ` --region ${exampleRegion}`;
  const unit = shellWord(exampleUnit);
  // The page of a declared site has the name of the site after it.
  return [line, `  gleaner page fetch ${market} ${page.split('/')[0]} ${unit}${region}`];
}
