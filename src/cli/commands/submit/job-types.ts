import type { DescField } from '@bufbuild/protobuf';
import { comments } from '../../../../gen/comments.ts';
import { type JobType, jobTypes } from '../../../contract/job-types.ts';
import { restName } from '../../../contract/rest-form.ts';
import { UsageError } from '../exit.ts';
import { requireMarket } from '../market-names.ts';

/** Returns the first sentence of a job type's description. */
export const aboutJobType = ({ method }: JobType): string =>
  (comments[`${method.parent.typeName}.${method.name}`] ?? '').split(/(?<=\.)\s/, 1)[0]!;

/**
 * Returns the job type of a market, by path segment or name, and a kind, which may have dashes.
 * Throws a UsageError that lists the valid ones.
 */
export function jobTypeNamed(marketText: string, kind: string | undefined): JobType {
  const market = requireMarket(marketText);
  const ofMarket = jobTypes.filter((jobType) => jobType.market === market);
  const kinds = ofMarket.map((jobType) => jobType.kind).join(', ');
  if (kind === undefined) throw new UsageError(`Name a kind after ${marketText}: ${kinds}`);
  const found = ofMarket.find((jobType) => jobType.kind === kind.replaceAll('-', '_'));
  if (found === undefined) {
    const isFile = kind === '-' || /[./]/.test(kind);
    const hint = isFile ? '. Name the kind before the file' : '';
    throw new UsageError(`${market} has no kind "${kind}" (${kinds})${hint}`);
  }
  return found;
}

/** Returns the job type whose submit has a path, with /v1 or without. Throws a UsageError. */
export function jobTypeAt(path: string): JobType {
  const long = path.startsWith('/v1/') ? path : `/v1${path}`;
  const found = jobTypes.find(({ endpoint }) => endpoint.path === long);
  if (found === undefined)
    throw new UsageError(
      `"${path}" is not a submit path. List the kinds with \`gleaner kind list\`.`,
    );
  return found;
}

/** Returns the names of fields as files and options have them. */
export const namesOf = (fields: readonly DescField[]): string => fields.map(restName).join(', ');
