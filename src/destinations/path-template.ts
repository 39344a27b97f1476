/** Variables of a template, with an example of each. */
export const pathVariables = {
  market: 'mkta',
  kind: 'variant_sold',
  region: 'sg',
  status: 'completed',
  date: '2030-01-07',
  year: '2030',
  month: '01',
  day: '07',
  time: '041230',
  job_id: '5b1f0b86-4c0e-4d55-9d5f-2f4a3f4a8f10',
  ext: 'jsonl',
} as const;

/** Name of a variable. */
export type PathVariable = keyof typeof pathVariables;

/** Template of a destination that names none. */
export const defaultPath = '{market}/{kind}/{date}/{job_id}.{ext}';

const maxLength = 500;
const variable = /\{([^{}]*)\}/g;
/** Characters that need no escaping in a URL and have no meaning in an S3 key. */
const allowedText = /^[A-Za-z0-9._=/-]*$/;

/**
 * Returns the reason why a template of file names is invalid, or null if it is valid. A valid
 * template contains `{job_id}`, so that two jobs never have the same name, and no segment that
 * leads out of the folder.
 */
export function problemOfPath(template: string): string | null {
  if (template.length > maxLength) return `The path is longer than ${maxLength} characters`;
  const unknown = [...template.matchAll(variable)].find(
    ([, name]) => !Object.hasOwn(pathVariables, name!),
  );
  const names = Object.keys(pathVariables).map((name) => `{${name}}`);
  if (unknown) return `${unknown[0]} is not a variable. Use ${names.join(', ')}`;
  if (!template.includes('{job_id}')) return 'The path must contain {job_id}';
  return problemOfSegments(template.replace(variable, 'x'));
}

/** Returns the reason why a prefix of file names is invalid, or null if it is valid. */
export function problemOfPrefix(prefix: string): string | null {
  if (prefix.length > maxLength) return `The prefix is longer than ${maxLength} characters`;
  return prefix === '' ? null : problemOfSegments(prefix.replace(/\/$/, ''));
}

function problemOfSegments(path: string): string | null {
  if (!allowedText.test(path)) return 'Use letters, digits, and the characters . _ = - /';
  const segments = path.split('/');
  if (segments.includes(''))
    return 'The path must not begin or end with a slash, or contain two in a row';
  return segments.some((segment) => /^\.+$/.test(segment))
    ? 'The path must not contain a segment of dots only'
    : null;
}

/** Values of the variables of a job's file. */
export interface PathValues {
  market: string;
  kind: string;
  /** '' if the units have their own. */
  region: string;
  status: string;
  jobId: string;
  /** End of the job, in milliseconds since the epoch. */
  endedAt: number;
  /** Extension of the file's name. */
  ext: string;
}

/**
 * Returns the name of a job's file. Times are UTC; a job whose units have their own regions has the
 * region `all`.
 */
export function expandPath(template: string, values: PathValues): string {
  const { market, kind, region, status, jobId, endedAt, ext } = values;
  const [date = '', time = ''] = new Date(endedAt).toISOString().split('T');
  const [year = '', month = '', day = ''] = date.split('-');
  const variableValues: Record<PathVariable, string> = {
    market,
    kind,
    region: region === '' ? 'all' : region,
    status,
    date,
    year,
    month,
    day,
    time: time.slice(0, 8).replaceAll(':', ''),
    job_id: jobId,
    ext,
  };
  return template.replace(variable, (_, name: PathVariable) => variableValues[name]);
}
