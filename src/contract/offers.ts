import { type DescField, type DescMethodUnary, getOption, ScalarType } from '@bufbuild/protobuf';
import { job as jobOption, market as marketOption, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { type Endpoint, endpointOf } from './endpoint.ts';
import { marketServices } from './services.ts';

/** A kind of job that can be submitted on a marketplace. */
export interface Offer {
  /** Path segment of the marketplace: "mkta". */
  market: string;
  /** Kind of job: "variant_sold". */
  kind: string;
  method: DescMethodUnary;
  /** REST form of the method. */
  endpoint: Endpoint;
  /**
   * Field of the request that holds the units: a list of messages or of strings, or a CSV file. Undefined if
   * the request is the unit.
   */
  units: DescField | undefined;
  /** Other fields than `units`. */
  options: readonly DescField[];
}

/** Every offer of the contract, by marketplace and in the order of declaration. */
export const offers: readonly Offer[] = marketServices.flatMap((service) =>
  service.methods.flatMap((method) =>
    method.methodKind === 'unary' && getOption(method, jobOption).step === Step.SUBMIT
      ? [offerOf(method as DescMethodUnary)]
      : [],
  ),
);

/** Path segments of the marketplaces that have offers. */
export const offeredMarkets: readonly string[] = [...new Set(offers.map(({ market }) => market))];

/** Kinds of jobs that can be submitted. */
export const offeredKinds: readonly string[] = [...new Set(offers.map(({ kind }) => kind))];

function offerOf(method: DescMethodUnary): Offer {
  const { fields } = method.input;
  const units = fields.find((field) => field.fieldKind === 'list' || field.scalar === ScalarType.BYTES);
  const endpoint = endpointOf(method);
  if (endpoint === undefined) throw new Error(`${method}: a submit needs a REST path`);
  return {
    market: getOption(method.parent, marketOption),
    kind: getOption(method, jobOption).kind,
    method,
    endpoint,
    units,
    options: units === undefined ? [] : fields.filter((field) => field !== units),
  };
}

/** Returns the fields of one unit of an offer; none if units are strings or the rows of a file. */
export function unitFields({ units, method }: Pick<Offer, 'units' | 'method'>): readonly DescField[] {
  if (units === undefined) return method.input.fields;
  return units.fieldKind === 'list' && units.listKind === 'message' ? units.message.fields : [];
}

/** Returns whether the units of an offer are strings. */
export const hasTextUnits = ({ units }: Pick<Offer, 'units'>): boolean =>
  units?.fieldKind === 'list' && units.listKind === 'scalar';

/** Returns whether the units of an offer are rows of a CSV file. */
export const hasFileUnits = ({ units }: Pick<Offer, 'units'>): boolean => units?.fieldKind === 'scalar';
