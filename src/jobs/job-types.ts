import {
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
} from '@bufbuild/protobuf';
import {
  job as jobOption,
  market as marketOption,
  Step,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import type { Kind, ResultShape } from '../kinds/kind.ts';
import type { Market, Reader } from '../markets/market.ts';
import type { RecordFields } from '../quality/record-schema.ts';

/** A kind of job offered on a market. */
export interface ResolvedJobType {
  kind: Kind;
  market: Market;
  /** Reader of the units. */
  reader: Reader;
  /** Input message of the submit method. */
  request: DescMessage;
  /** Message of the object in a unit's result file, if the contract declares one. */
  result: ResultShape | null;
}

/** An RPC on the jobs of a job type. */
export interface JobMethod {
  method: DescMethod;
  /** Null for the data step, which serves every kind of its market. */
  jobType: ResolvedJobType | null;
  market: Market;
  step: Step;
  /** Name of the kind's view, for the read step. */
  view: string;
}

/** All job types, as declared by the descriptors. */
export interface JobTypes {
  /** Methods by full name. */
  methods: ReadonlyMap<string, JobMethod>;
  /** Returns the job type of a job. */
  of(job: { market: string; kind: string }): ResolvedJobType;
}

/** Returns the full name of a method: "gleaner.mkta.v1.MktaService.SubmitVariantSold". */
export const fullName = (method: DescMethod): string => `${method.parent.typeName}.${method.name}`;

/**
 * Resolves the job options of the services' methods to kinds and markets. Throws if a method names
 * an unknown kind, view or market, or a market without a reader for the kind's pages.
 */
export function resolveJobTypes(
  services: readonly DescService[],
  kinds: readonly Kind[],
  markets: readonly Market[],
): JobTypes {
  const methods = new Map<string, JobMethod>();
  const jobTypes = new Map<string, ResolvedJobType>();
  for (const method of services.flatMap((service) => service.methods)) {
    if (!hasOption(method, jobOption)) continue;
    const { step, view } = getOption(method, jobOption);
    if (step === Step.UNSPECIFIED) failMethod(method, 'the step is missing');
    const market = marketOf(method, markets);
    let jobType: ResolvedJobType | null = null;
    if (step !== Step.DATA) {
      jobType = resolveJobType(method, market, kinds);
      const name = `${market.name}/${jobType.kind.name}`;
      jobType = mergeJobType(jobTypes.get(name), jobType, step);
      jobTypes.set(name, jobType);
    }
    methods.set(fullName(method), {
      method,
      jobType,
      market,
      step,
      view,
    });
  }
  return {
    methods,
    of: ({ market, kind }) => {
      const jobType = jobTypes.get(`${market}/${kind}`);
      if (!jobType) throw new Error(`no job type of ${kind} on ${market}`);
      return jobType;
    },
  };
}

function failMethod(method: DescMethod, problem: string): never {
  throw new Error(`${fullName(method)}: ${problem}`);
}

function marketOf(method: DescMethod, markets: readonly Market[]): Market {
  const marketName = getOption(method.parent, marketOption);
  const market = markets.find(({ name }) => name === marketName);
  return market ?? failMethod(method, `there is no market '${marketName}'`);
}

/** Returns the job type as one of its methods declares it. */
function resolveJobType(
  method: DescMethod,
  market: Market,
  kinds: readonly Kind[],
): ResolvedJobType {
  const { kind: kindName, step, view, result, resultInArray } = getOption(method, jobOption);
  const kind = kinds.find(({ name }) => name === kindName);
  if (kind === undefined) return failMethod(method, `there is no kind '${kindName}'`);
  const reader = market.readers[kind.page];
  if (reader === undefined)
    return failMethod(method, `${market.name} has no reader of ${kind.page} pages`);
  if (view !== '' && !(view in kind.views)) failMethod(method, `${kindName} has no view '${view}'`);
  if (step === Step.SUBMIT && (result === '') !== (kind.files.unit === undefined))
    failMethod(method, `${kindName} needs a result if its units have files, and only then`);
  const message = result === '' ? undefined : messageOf(method.parent.file, result);
  if (result !== '' && message === undefined) failMethod(method, `there is no message '${result}'`);
  return {
    kind,
    market,
    reader,
    request: method.input,
    result: message === undefined ? null : { message, inArray: resultInArray },
  };
}

/**
 * Adds the declarations of a method to its job type: the submit method declares the request, and
 * one method the result.
 */
function mergeJobType(
  jobType: ResolvedJobType | undefined,
  declared: ResolvedJobType,
  step: Step,
): ResolvedJobType {
  if (jobType === undefined) return declared;
  // The methods that were resolved before share the object.
  return Object.assign(jobType, {
    request: step === Step.SUBMIT ? declared.request : jobType.request,
    result: declared.result ?? jobType.result,
  });
}

function messageOf(file: DescFile, typeName: string): DescMessage | undefined {
  return file.messages.find((message) => message.typeName === typeName);
}

/** Returns the fields of one record of a job type's results. */
export function resultFieldsOf({ kind, market, request, result }: ResolvedJobType): RecordFields {
  return kind.resultFields(market.listedFields[kind.page] ?? {}, { request, result });
}

/**
 * Returns the name under which the drift of a job type's pages is counted. It includes the region
 * if regions are separate sites, whose pages have different fields.
 */
export function driftPageOf(
  { kind, market }: Pick<ResolvedJobType, 'kind' | 'market'>,
  region: string,
): string {
  if (market.regionPolicy === undefined) return kind.page;
  return `${kind.page}/${region}`;
}
