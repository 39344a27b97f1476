import { type DescMethod, getOption } from '@bufbuild/protobuf';
import {
  job as jobOption,
  market as marketOption,
  rest as restOption,
  Step,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { http as httpOption } from '../../../gen/google/api/annotations_pb.ts';
import { marketServices } from '../../../gen/services.ts';

/** A kind of work on a marketplace: what can be submitted, and where. */
export interface Offer {
  /** Path word of the marketplace: "mkta". */
  market: string;
  /** Kind of work: "variant_sold". */
  kind: string;
  method: DescMethod;
  /** REST path that takes it. */
  path: string;
  /** Taken as a form with a file instead of JSON. */
  multipart: boolean;
  /** Processed during working hours only. */
  workingHours: boolean;
}

/** Everything that can be submitted, as the contract declares it. */
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

/** Words of kinds that are short for others. */
const words: Record<string, string> = { pdp: 'product page', pc: 'product page' };

/** A kind for people: "Variant sold". */
export function kindText(kind: string): string {
  const text = kind
    .split('_')
    .map((word) => words[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A marketplace for people, by the letter that ends its path word: "Marketplace A"; else the word. */
export function marketText(market: string): string {
  const letter = /^mkt([a-z])$/.exec(market)?.[1];
  return letter ? `Marketplace ${letter.toUpperCase()}` : market;
}
