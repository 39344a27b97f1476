import { type Identity, identify } from '../items.ts';
import type { FilePack } from '../kind.ts';

/**
 * One line per scraped item: what identifies it, and its page under `response` (interface, "JSONL
 * line shapes"). Failed items have no line: the counts tell of them.
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
