import { Fault, type Problem } from '../../contract/fault.ts';
import { type JobOptions, jobOptionsOf } from '../../contract/submit-options.ts';
import { requirePages } from '../kept-pages.ts';
import { noJob } from '../queries/read.ts';
import type { Submitter } from './idempotency.ts';
import { type Derivation, type DeriveJob, deriveJob } from './retry.ts';

const rereadDerivation: Derivation = {
  of: 'rereadOf',
  words: { noun: 'reread', done: 'reread', does: 'rereads the pages' },
  check: ({ clock }, source) => requirePages(source, clock.now()),
  async plan({ store }, source) {
    const groups = [];
    // A batch each, whose units have the indexes of those whose pages are kept.
    for await (const { region, units } of store.batches.read(source.id)) groups.push({ region, units });
    // The batches read may be incomplete.
    if ((await store.jobs.get(source.id)) === null) throw noJob(source.id);
    return { groups, region: source.region, params: source.params };
  },
  optionsOf: (source, options) => rereadOptionsOf(source.options, options),
  warning: async () => null,
};

/**
 * Reads the kept pages of an ended job with the current readers, in a new job with the same units, at the
 * price of reused results. No request is sent to the site. Throws `conflict` for a job without kept pages,
 * `invalid` for an option that a reread cannot have, and the faults of deriveJob().
 */
export const reread: DeriveJob = deriveJob(rereadDerivation);

/** Options that concern the reading of pages, or the time at which they are read, by their contract name. */
const readingOptions = { max_age: 'maxAge', keep_pages: 'keepPages', track: 'track', only: 'only' } as const;

/** Returns the options of a reread: those of the call, and the name of the first job. Throws `invalid`. */
function rereadOptionsOf({ name }: JobOptions, options: Submitter['options']): JobOptions {
  const given = jobOptionsOf(options);
  const problems = Object.entries(readingOptions)
    .filter(([, option]) => given[option])
    .map(([field]): Problem => {
      const msg = 'a reread cannot have this option: it reads kept pages';
      return { loc: ['query', field], msg, type: 'value_error' };
    });
  const [first] = problems;
  if (first !== undefined) throw new Fault('invalid', `${first.loc[1]}: ${first.msg}`, { problems });
  return { ...(name === undefined ? {} : { name }), ...given };
}
