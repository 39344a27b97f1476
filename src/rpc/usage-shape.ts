import type { MessageInitShape } from '@bufbuild/protobuf';
import type { UsageDaySchema } from '../../gen/gleaner/account/v1/account_pb.ts';
import type { LedgerSum } from '../store/store.ts';

const dayMs = 86_400_000;

/** Beginning of the first of `days` UTC days of which that of `now` is the last. */
export function firstDay(now: number, days: number): number {
  return (Math.floor(now / dayMs) - days + 1) * dayMs;
}

/** Sums of a ledger by day, oldest first: `days` of them from `first` on, those without entries too. */
export function usageShapes(
  sums: readonly LedgerSum[],
  first: number,
  days: number,
): MessageInitShape<typeof UsageDaySchema>[] {
  const known = new Map(sums.map((sum) => [`${sum.day} ${sum.type}`, sum]));
  return Array.from({ length: days }, (_, turn) => {
    const day = first + turn * dayMs;
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
