import { Fault, type Problem } from '../../contract/fault.ts';
import { seriesOf } from '../../contract/track.ts';
import { findExcess } from '../../credits/job-credits.ts';
import { parseHold, problemsOfHold } from '../../quality/hold.ts';
import type { Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import type { Offer } from '../offers.ts';
import { notTracked } from '../queries/changed.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { findUnknownDestination } from './deliver-to.ts';

/** Dependencies of the checks. */
export type OptionCheckContext = StoreUse<'listDestinations'>;

/** Returns the fault for which a job is refused because of one of its options, or null. Problems are in the query. */
type OptionCheck = (
  context: OptionCheckContext,
  offer: Offer,
  job: Pick<Job, 'userId' | 'cost' | 'options'>,
) => Fault | null | Promise<Fault | null>;

/** Requires the fields that the option `hold` names to be fields of the records. */
const checkHold: OptionCheck = (_context, offer, { options }) => {
  const problems = problemsOfHold(parseHold(options.hold ?? ''), recordFieldsOf(offer)).map(
    (msg): Problem => ({ loc: ['query', 'hold'], msg, type: 'value_error' }),
  );
  return problems.length === 0 ? null : new Fault('invalid', `hold: ${problems[0]!.msg}`, { problems });
};

/** Requires a job with the option `only` to be tracked. */
const checkOnly: OptionCheck = (_context, _offer, { options }) => {
  const needsTrack = options.only === 'changed' && seriesOf(options.track) === null;
  return needsTrack ? notTracked(['query', 'only']) : null;
};

/**
 * Checks of what the rules of the contract cannot express, in the order in which a submit reports the first fault. A quote
 * reports all of them.
 */
export const optionChecks: readonly OptionCheck[] = [
  checkHold,
  checkOnly,
  (context, _offer, job) => findUnknownDestination(context, job),
  (_context, _offer, job) => findExcess(job),
];
