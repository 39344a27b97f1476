import type { MessageInitShape } from '@bufbuild/protobuf';
import type { QuoteDuplicateSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import type { Plan } from '../../kinds/kind.ts';

/** Maximum duplicate units listed in a quote. */
const maxListed = 20;

/** Units of a plan that are the same as an earlier one. */
export interface Duplicates {
  count: number;
  /** The first units that occur several times, in the order submitted. */
  listed: MessageInitShape<typeof QuoteDuplicateSchema>[];
}

/** Finds units of a plan with the same region and input. */
export function findDuplicates({ groups }: Pick<Plan, 'groups'>): Duplicates {
  const known = new Map<string, { key: string; region: string; times: number }>();
  let count = 0;
  for (const { region, units } of groups) {
    for (const { key, input } of units) {
      const identity = `${region}\n${JSON.stringify(input)}`;
      const first = known.get(identity);
      if (first === undefined) known.set(identity, { key, region, times: 1 });
      else {
        first.times += 1;
        count += 1;
      }
    }
  }
  const repeated = [...known.values()].filter(({ times }) => times > 1);
  return { count, listed: repeated.slice(0, maxListed) };
}
