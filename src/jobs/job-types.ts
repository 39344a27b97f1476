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
 * Resolves the job options of the services' methods to kinds and markets. Throws if a method names an unknown
 * kind, view or market, or a market without a reader for the kind's pages.
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
    const { kind: kindName, step, view, result, resultInArray } = getOption(method, jobOption);
    const marketName = getOption(method.parent, marketOption);
    const fail = (problem: string): never => {
      throw new Error(`${fullName(method)}: ${problem}`);
    };
    if (step === Step.UNSPECIFIED) fail('the step is missing');
    const market =
      markets.find(({ name }) => name === marketName) ?? fail(`there is no market '${marketName}'`);
    if (step === Step.DATA) {
      methods.set(fullName(method), { method, jobType: null, market, step, view });
      continue;
    }
    const kind = kinds.find(({ name }) => name === kindName) ?? fail(`there is no kind '${kindName}'`);
    const reader = market.readers[kind.page] ?? fail(`${marketName} has no reader of ${kind.page} pages`);
    if (view !== '' && !(view in kind.views)) fail(`${kindName} has no view '${view}'`);
    if (step === Step.SUBMIT && (result === '') !== (kind.files.unit === undefined))
      fail(`${kindName} needs a result if its units have files, and only then`);
    const message =
      result === ''
        ? null
        : (messageOf(method.parent.file, result) ?? fail(`there is no message '${result}'`));
    const name = `${marketName}/${kindName}`;
    const known = jobTypes.get(name);
    const shape = message === null ? (known?.result ?? null) : { message, inArray: resultInArray };
    const request = step === Step.SUBMIT ? method.input : (known?.request ?? method.input);
    const jobType = Object.assign(known ?? { kind, market, reader, request, result: shape }, {
      request,
      result: shape,
    });
    jobTypes.set(name, jobType);
    methods.set(fullName(method), { method, jobType, market, step, view });
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

function messageOf(file: DescFile, typeName: string): DescMessage | undefined {
  return file.messages.find((message) => message.typeName === typeName);
}

/** Returns the fields of one record of a job type's results, in the notation of parseFields(). */
export function resultFieldsOf({ kind, market, request, result }: ResolvedJobType): string {
  return kind.resultFields(market.listedFields[kind.page] ?? '', { request, result });
}
