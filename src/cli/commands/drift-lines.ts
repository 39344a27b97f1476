import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { FieldDrift } from '../../../gen/gleaner/operator/v1/operator_pb.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A field that goes missing in words, and the command that shows the last page that lacked it. */
export function driftLines(drift: FieldDrift): string[] {
  const { market, page, field, absentShare, usualShare, pages, since, exampleUnit, exampleRegion } = drift;
  const usual = usualShare === undefined ? 'not known yet what is usual' : `usual: ${percent(usualShare)}`;
  const begun = since ? `, since ${timestampDate(since).toISOString()}` : '';
  // The first pages ever only teach what is usual.
  const newest =
    pages === 0 ? 'no newer pages' : `absent in ${percent(absentShare)} of the last ${pages} pages`;
  const words = `${market} ${page} ${field}: ${newest} (${usual}${begun})`;
  if (exampleUnit === '') return [words];
  const region = exampleRegion === '' ? '' : ` --region ${exampleRegion}`;
  // In quotes for a shell, which a quote within would end.
  const unit = `'${exampleUnit.replaceAll("'", String.raw`'\''`)}'`;
  return [words, `  gleaner page fetch ${market} ${page} ${unit}${region}`];
}
