import { type DescMethod, getOption } from '@bufbuild/protobuf';
import {
  job as jobOption,
  market as marketOption,
  rest as restOption,
  Step,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { http as httpOption } from '../../../gen/google/api/annotations_pb.ts';
import { marketServices } from '../../../gen/services.ts';

/** Job type: a kind of work on a marketplace. */
export interface Offer {
  /** Path word of the marketplace: "mkta". */
  market: string;
  /** Kind of work: "variant_sold". */
  kind: string;
  method: DescMethod;
  /** REST path of the submit endpoint. */
  path: string;
  /** Submitted as a multipart form with a file instead of JSON. */
  multipart: boolean;
  /** Processed during working hours only. */
  workingHours: boolean;
}

/** All job types in the contract. */
export const offers: readonly Offer[] = marketServices.flatMap((service) =>
  service.methods.flatMap((method) => {
    const { kind, step } = getOption(method, jobOption);
    const { pattern } = getOption(method, httpOption);
    if (step !== Step.SUBMIT || pattern.case !== 'post') return [];
    const { multipart, workingHours } = getOption(method, restOption);
    return [
      {
        market: getOption(service, marketOption),
        kind,
        method,
        path: pattern.value,
        multipart,
        workingHours,
      },
    ];
  }),
);

/** Path words of the marketplaces. */
export const markets: readonly string[] = [...new Set(offers.map(({ market }) => market))];

/** Kinds of work. */
export const kinds: readonly string[] = [...new Set(offers.map(({ kind }) => kind))];

/** Expansions of abbreviations in kinds. */
const expansions: Record<string, string> = { pdp: 'product page', pc: 'product page' };

/** Formats a kind: "Variant sold". */
export function kindText(kind: string): string {
  const text = kind
    .split('_')
    .map((word) => expansions[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a marketplace: "Marketplace A" for "mkta"; other path words are returned unchanged. */
export function marketText(market: string): string {
  const letter = /^mkt([a-z])$/.exec(market)?.[1];
  return letter ? `Marketplace ${letter.toUpperCase()}` : market;
}
