import {
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
} from '@bufbuild/protobuf';
import { job as jobOption, market as marketOption, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import type { Kind, ResultShape } from '../kinds/kind.ts';
import type { Market, Reader } from '../markets/market.ts';

/** A kind of work on a market: where the product's two axes meet. */
export interface Offer {
  kind: Kind;
  market: Market;
  /** Reads the units. */
  reader: Reader;
  /** Input of the submit method. */
  request: DescMessage;
  /** The object that a unit's result file holds, where the contract declares it. */
  result: ResultShape | null;
}

/** What an RPC does with the jobs of its offer. */
export interface JobMethod {
  method: DescMethod;
  /** Null for the data step, which serves every kind of its market. */
  offer: Offer | null;
  market: Market;
  step: Step;
  /** Which of the kind's views answers, for the read step. */
  view: string;
}

/** Everything on offer, as the descriptors declare it. */
export interface Offers {
  /** By the RPC's full name. */
  methods: ReadonlyMap<string, JobMethod>;
  /** The offer of a job. */
  of(job: { market: string; kind: string }): Offer;
}

/** Full name of a method: "gleaner.mkta.v1.MktaService.SubmitVariantSold". */
export const fullName = (method: DescMethod): string => `${method.parent.typeName}.${method.name}`;

/**
 * Resolves the declarations of the services against the kinds and markets there are. Throws at
 * start when a method names a kind, view or market that does not exist, or a market that has no
 * reader for the kind's pages.
 */
export function resolveOffers(
  services: readonly DescService[],
  kinds: readonly Kind[],
  markets: readonly Market[],
): Offers {
  const methods = new Map<string, JobMethod>();
  const offers = new Map<string, Offer>();
  for (const method of services.flatMap((service) => service.methods)) {
    if (!hasOption(method, jobOption)) continue;
    const { kind: kindName, step, view, result, resultInArray } = getOption(method, jobOption);
    const marketName = getOption(method.parent, marketOption);
    const fail = (what: string): never => {
      throw new Error(`${fullName(method)}: ${what}`);
    };
    if (step === Step.UNSPECIFIED) fail('the step is missing');
    const market =
      markets.find(({ name }) => name === marketName) ?? fail(`there is no market '${marketName}'`);
    if (step === Step.DATA) {
      methods.set(fullName(method), { method, offer: null, market, step, view });
      continue;
    }
    const kind = kinds.find(({ name }) => name === kindName) ?? fail(`there is no kind '${kindName}'`);
    const reader = market.readers[kind.page] ?? fail(`${marketName} has no reader of ${kind.page} pages`);
    if (view !== '' && !(view in kind.views)) fail(`${kindName} has no view '${view}'`);
    const message =
      result === ''
        ? null
        : (messageOf(method.parent.file, result) ?? fail(`there is no message '${result}'`));
    const name = `${marketName}/${kindName}`;
    const known = offers.get(name);
    const shape = message === null ? (known?.result ?? null) : { message, inArray: resultInArray };
    const request = step === Step.SUBMIT ? method.input : (known?.request ?? method.input);
    const offer = Object.assign(known ?? { kind, market, reader, request, result: shape }, {
      request,
      result: shape,
    });
    offers.set(name, offer);
    methods.set(fullName(method), { method, offer, market, step, view });
  }
  return {
    methods,
    of: ({ market, kind }) => {
      const offer = offers.get(`${market}/${kind}`);
      if (!offer) throw new Error(`nothing offers ${kind} on ${market}`);
      return offer;
    },
  };
}

function messageOf(file: DescFile, typeName: string): DescMessage | undefined {
  return file.messages.find((message) => message.typeName === typeName);
}

/** Returns the fields of one record of an offer's results, in the notation of fieldsOf(). */
export function resultFieldsOf({ kind, market, request, result }: Offer): string {
  return kind.resultFields(market.listedFields[kind.page] ?? '', { request, result });
}
