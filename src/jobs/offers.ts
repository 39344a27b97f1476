import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf';
import {
  job as jobOption,
  market as marketOption,
  type Step,
  Step as Steps,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Market, Reader } from '../markets/market.ts';

/** A kind of work on a market: where the product's two axes meet. */
export interface Offer {
  kind: Kind;
  market: Market;
  /** Reads the units. */
  reader: Reader;
}

/** What an RPC does with the jobs of its offer. */
export interface JobMethod {
  method: DescMethod;
  offer: Offer;
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
    const { kind: kindName, step, view } = getOption(method, jobOption);
    const marketName = getOption(method.parent, marketOption);
    const fail = (what: string): never => {
      throw new Error(`${fullName(method)}: ${what}`);
    };
    const kind = kinds.find((each) => each.name === kindName) ?? fail(`there is no kind '${kindName}'`);
    const market =
      markets.find((each) => each.name === marketName) ?? fail(`there is no market '${marketName}'`);
    const reader = market.readers[kind.page] ?? fail(`${marketName} has no reader of ${kind.page} pages`);
    if (step === Steps.UNSPECIFIED) fail('the step is missing');
    if (step === Steps.READ && !(view in kind.views)) fail(`${kindName} has no view '${view}'`);
    const name = `${marketName}/${kindName}`;
    if (!offers.has(name)) offers.set(name, { kind, market, reader });
    methods.set(fullName(method), { method, offer: offers.get(name)!, step, view });
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
