import { type DescField, type DescMethodUnary, getOption, ScalarType } from '@bufbuild/protobuf';
import { comments } from '../../../../gen/comments.ts';
import {
  job as jobOption,
  market as marketOption,
  Step,
} from '../../../../gen/gleaner/options/v1/options_pb.ts';
import { endpointOf } from '../../../client/endpoint.ts';
import { restName } from '../../../contract/rest-form.ts';
import { services } from '../../../rpc/services.ts';
import { UsageError } from '../exit.ts';

/** A kind of work that can be submitted on a market, as the contract declares it. */
export interface Offer {
  market: string;
  kind: string;
  method: DescMethodUnary;
  /** Path of its submit. */
  path: string;
  /** Field of the request that holds the units: a list of messages or texts, or a CSV file; undefined: the request
   *  is the unit. */
  units: DescField | undefined;
  /** Fields beside it. */
  options: readonly DescField[];
  /** First sentence of its description. */
  about: string;
}

/** Every offer, in the order of the documentation. */
export const offers: readonly Offer[] = services.flatMap((service) =>
  service.methods.flatMap((method) =>
    method.methodKind === 'unary' && getOption(method, jobOption).step === Step.SUBMIT
      ? [offerOf(method as DescMethodUnary)]
      : [],
  ),
);

function offerOf(method: Offer['method']): Offer {
  const { fields } = method.input;
  const units = fields.find((field) => field.fieldKind === 'list' || field.scalar === ScalarType.BYTES);
  const name = `${method.parent.typeName}.${method.name}`;
  return {
    market: getOption(method.parent, marketOption),
    kind: getOption(method, jobOption).kind,
    method,
    path: endpointOf(method).path,
    units,
    options: units === undefined ? [] : fields.filter((field) => field !== units),
    about: (comments[name] ?? '').split(/(?<=\.)\s/, 1)[0]!,
  };
}

/** The offer of a market and kind; a kind may be written with dashes. Throws a UsageError that lists what there is. */
export function offerNamed(market: string, kind: string): Offer {
  const ofMarket = offers.filter((offer) => offer.market === market);
  if (ofMarket.length === 0)
    throw new UsageError(
      `there is no market ${market}: expected one of ${[...new Set(offers.map((offer) => offer.market))].join(', ')}`,
    );
  const found = ofMarket.find((offer) => offer.kind === kind.replaceAll('-', '_'));
  if (found === undefined)
    throw new UsageError(
      `${market} has no kind ${kind}: expected one of ${ofMarket.map((offer) => offer.kind).join(', ')}`,
    );
  return found;
}

/** The offer whose submit has this path, with /v1 or without. Throws a UsageError. */
export function offerAt(path: string): Offer {
  const long = path.startsWith('/v1/') ? path : `/v1${path}`;
  const found = offers.find((offer) => offer.path === long);
  if (found === undefined) throw new UsageError(`${path} is no submit path: see \`gleaner kinds\``);
  return found;
}

/** Fields of one unit of an offer; empty for texts and for a CSV that goes as it is. */
export function unitFields({ units, method }: Offer): readonly DescField[] {
  if (units === undefined) return method.input.fields;
  return units.fieldKind === 'list' && units.listKind === 'message' ? units.message.fields : [];
}

/** Whether the units of an offer are texts. */
export const hasTextUnits = ({ units }: Offer): boolean =>
  units?.fieldKind === 'list' && units.listKind === 'scalar';

/** Whether the units of an offer go as a CSV file. */
export const hasFileUnits = ({ units }: Offer): boolean => units?.fieldKind === 'scalar';

/** Names of fields as files and options have them. */
export const namesOf = (fields: readonly DescField[]): string => fields.map(restName).join(', ');
