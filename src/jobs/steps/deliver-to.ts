import { Fault, type Problem } from '../../contract/fault.ts';
import type { JobOptions } from '../../contract/submit-options.ts';
import type { Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';

/** Returns the fault of a submit that names destinations which its user does not have, or null. */
export async function findUnknownDestination(
  context: StoreUse<'listDestinations'>,
  job: Pick<Job, 'userId' | 'options'>,
): Promise<Fault | null> {
  const { unknown } = await readDestinations(context, job);
  if (unknown.length === 0) return null;
  const problems = unknown.map((value): Problem => {
    const msg = `'${value}' is not the id or name of one of your destinations`;
    return { loc: ['query', 'deliver_to'], msg, type: 'value_error' };
  });
  return new Fault('invalid', `deliver_to: ${problems[0]!.msg}`, { problems });
}

/** Returns the options of a job with the ids of its destinations instead of their names. */
export async function withDestinationIds(
  context: StoreUse<'listDestinations'>,
  job: Pick<Job, 'userId' | 'options'>,
): Promise<JobOptions> {
  const { deliverTo: _, ...others } = job.options;
  const { ids } = await readDestinations(context, job);
  return ids.length === 0 ? others : { ...others, deliverTo: ids.join(',') };
}

async function readDestinations(
  { store }: StoreUse<'listDestinations'>,
  { userId, options: { deliverTo = '' } }: Pick<Job, 'userId' | 'options'>,
): Promise<{ ids: string[]; unknown: string[] }> {
  if (deliverTo === '') return { ids: [], unknown: [] };
  const destinations = await store.listDestinations(userId);
  const ids = new Set<string>();
  const unknown = new Set<string>();
  for (const value of deliverTo.split(',')) {
    const found =
      destinations.find(({ name }) => name === value) ??
      destinations.find(({ id }) => id === value.toLowerCase());
    if (found === undefined) unknown.add(value);
    else ids.add(found.id);
  }
  return { ids: [...ids], unknown: [...unknown] };
}
