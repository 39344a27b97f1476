import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { FieldDrift } from '../../../gen/gleaner/operator/v1/operator_pb.ts';

const percent = (share: number): string => `${Math.round(share * 100)}%`;

/** Formats a field's drift, and the command that shows an example page. */
export function driftLines(drift: FieldDrift): string[] {
  const { market, page, field, absentShare, usualShare, pages, since, exampleUnit, exampleRegion } = drift;
  const baseline = usualShare === undefined ? 'no baseline yet' : `baseline: ${percent(usualShare)}`;
  const start = since ? `, since ${timestampDate(since).toISOString()}` : '';
  // The first pages only establish the baseline.
  const newest =
    pages === 0 ? 'no newer pages' : `missing from ${percent(absentShare)} of the last ${pages} pages`;
  const line = `${market} ${page} ${field}: ${newest} (${baseline}${start})`;
  if (exampleUnit === '') return [line];
  const region = exampleRegion === '' ? '' : ` --region ${exampleRegion}`;
  // Quoted for a shell.
  const unit = `'${exampleUnit.replaceAll("'", String.raw`'\''`)}'`;
  return [line, `  gleaner page fetch ${market} ${page} ${unit}${region}`];
}
