import type { DescField } from '@bufbuild/protobuf';
import { comments } from '../../../../gen/comments.ts';
import { type Offer, offeredMarkets, offers } from '../../../contract/offers.ts';
import { restName } from '../../../contract/rest-form.ts';
import { UsageError } from '../exit.ts';

/** Returns the first sentence of an offer's description. */
export const aboutOffer = ({ method }: Offer): string =>
  (comments[`${method.parent.typeName}.${method.name}`] ?? '').split(/(?<=\.)\s/, 1)[0]!;

/** Returns the offer of a market and kind; a kind may have dashes. Throws a UsageError that lists the valid ones. */
export function offerNamed(market: string, kind: string): Offer {
  const ofMarket = offers.filter((offer) => offer.market === market);
  if (ofMarket.length === 0) throw new UsageError(`No market "${market}" (${offeredMarkets.join(', ')})`);
  const found = ofMarket.find((offer) => offer.kind === kind.replaceAll('-', '_'));
  if (found === undefined)
    throw new UsageError(
      `${market} has no kind "${kind}" (${ofMarket.map((offer) => offer.kind).join(', ')})`,
    );
  return found;
}

/** Returns the offer whose submit has a path, with /v1 or without. Throws a UsageError. */
export function offerAt(path: string): Offer {
  const long = path.startsWith('/v1/') ? path : `/v1${path}`;
  const found = offers.find(({ endpoint }) => endpoint.path === long);
  if (found === undefined)
    throw new UsageError(`"${path}" is not a submit path. List the kinds with \`gleaner kinds\`.`);
  return found;
}

/** Returns the names of fields as files and options have them. */
export const namesOf = (fields: readonly DescField[]): string => fields.map(restName).join(', ');
