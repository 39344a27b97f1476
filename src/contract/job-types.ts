import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  getOption,
  ScalarType,
} from '@bufbuild/protobuf';
import {
  job as jobOption,
  market as marketOption,
  Step,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import { marketServices } from '../../gen/services.ts';
import { type Endpoint, endpointOf } from './endpoint.ts';

/** A kind of job that can be submitted on a marketplace. */
export interface JobType {
  /** Path segment of the marketplace: "mkta". */
  market: string;
  /** Kind of job: "variant_sold". */
  kind: string;
  method: DescMethodUnary;
  /** REST form of the method. */
  endpoint: Endpoint;
  /**
   * Field of the request that holds the units: a list of messages or of strings, or a CSV file.
   * Undefined if the request is the unit.
   */
  units: DescField | undefined;
  /** Other fields than `units`. */
  options: readonly DescField[];
}

/** Every job type of the contract, by marketplace and in the order of declaration. */
export const jobTypes: readonly JobType[] = marketServices.flatMap((service) =>
  service.methods.flatMap((method) =>
    method.methodKind === 'unary' && getOption(method, jobOption).step === Step.SUBMIT
      ? [jobTypeOf(method as DescMethodUnary)]
      : [],
  ),
);

/** Path segments of the marketplaces that have job types. */
export const knownMarkets: readonly string[] = [...new Set(jobTypes.map(({ market }) => market))];

function jobTypeOf(method: DescMethodUnary): JobType {
  const { fields } = method.input;
  const units = fields.find(
    (field) => field.fieldKind === 'list' || field.scalar === ScalarType.BYTES,
  );
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

/**
 * Returns the fields of one unit of a job type, or none if units are strings or the rows of a file.
 */
export function unitFields({
  units,
  method,
}: Pick<JobType, 'units' | 'method'>): readonly DescField[] {
  if (units === undefined) return method.input.fields;
  if (units.fieldKind === 'list' && units.listKind === 'message') return units.message.fields;
  return [];
}

/** Returns the message of one unit of a job type: the request, unless that has a list of them. */
export const unitMessage = ({ units, method }: Pick<JobType, 'units' | 'method'>): DescMessage =>
  units?.message ?? method.input;

/**
 * Returns true if the results of the units that a method submits are records. Others have a file
 * each.
 */
export const hasUnitRecords = (method: DescMethod): boolean =>
  getOption(method, jobOption).result === '';

/** Returns true if the units of a job type are strings. */
export const hasTextUnits = ({ units }: Pick<JobType, 'units'>): boolean =>
  units?.fieldKind === 'list' && units.listKind === 'scalar';

/** Returns true if the units of a job type are rows of a CSV file. */
export const hasFileUnits = ({ units }: Pick<JobType, 'units'>): boolean =>
  units?.fieldKind === 'scalar';

/** Returns the job type of a kind on a marketplace, or undefined if there is none. */
export const findJobType = ({
  market,
  kind,
}: Pick<JobType, 'market' | 'kind'>): JobType | undefined =>
  jobTypes.find((jobType) => jobType.market === market && jobType.kind === kind);
