import { prefixFields } from '../../base/record-shape.ts';
import { restName } from '../../contract/rest-form.ts';
import { rulesOf } from '../../contract/rules.ts';
import { type Identity, identify, identityOf, itemFields } from '../items.ts';
import type { FilePack, ResultContract } from '../kind.ts';

/** Returns the fields of a line: those that identify the item, and the page. */
export function lineFields(page: string, { request }: ResultContract): string {
  const fields = itemFields(request);
  const identity = identityOf(fields).map(({ name, from }) => {
    const isRequired = fields.some((field) => restName(field) === from && rulesOf(field).required);
    return `${name}: string${isRequired ? '' : '?'}`;
  });
  return [...identity, prefixFields('response', page)].join('; ');
}

/**
 * Writes one line per successful item: its identity, and its page in `response` (interface, "JSONL line
 * shapes"). Failed items have no line.
 */
export const jobFile: FilePack = {
  name: (job) => `${job.market}_pdp_${job.id}.jsonl.gz`,
  contentType: () => 'application/gzip',
  gzip: true,
  encoding: () => 'plain',
  whenAllFailed: false,
  head: () => '',
  separator: '',
  row(unit, outcome, { job }) {
    if (outcome.status === 'FAILED') return null;
    const line = JSON.stringify(identify(unit, job.params.identity as unknown as Identity, 0));
    return [`${line.slice(0, -1)},"response":`, '}\n'];
  },
  tail: () => '',
};
