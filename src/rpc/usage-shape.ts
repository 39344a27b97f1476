import type { MessageInitShape } from '@bufbuild/protobuf';
import type { UsageDaySchema } from '../../gen/gleaner/account/v1/account_pb.ts';
import type { LedgerSum } from '../store/store.ts';

const dayMs = 86_400_000;

/** Returns the start of the first of `days` UTC days that end with the day of `now`, in milliseconds since the epoch. */
export function firstDay(now: number, days: number): number {
  return (Math.floor(now / dayMs) - days + 1) * dayMs;
}

/** Returns the message UsageDay of `days` days from `first` on, oldest first, including days without entries. */
export function usageShapes(
  sums: readonly LedgerSum[],
  first: number,
  days: number,
): MessageInitShape<typeof UsageDaySchema>[] {
  const known = new Map(sums.map((sum) => [`${sum.day} ${sum.type}`, sum]));
  return Array.from({ length: days }, (_, index) => {
    const day = first + index * dayMs;
    const of = (type: LedgerSum['type']) => known.get(`${day} ${type}`);
    return {
      day: new Date(day).toISOString().slice(0, 10),
      charged: BigInt(-(of('charge')?.amount ?? 0)),
      refunded: BigInt(of('refund')?.amount ?? 0),
      granted: BigInt(of('grant')?.amount ?? 0),
      jobs: of('charge')?.entries ?? 0,
    };
  });
}
