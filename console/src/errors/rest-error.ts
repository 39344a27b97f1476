/** One problem of a request, as REST names it. */
export interface RestProblem {
  loc: (string | number)[];
  msg: string;
}

/** A REST answer that says what is wrong (its body's `detail`). */
export class RestFault extends Error {
  readonly status: number;
  readonly title: string;
  readonly problems: readonly RestProblem[];

  constructor(status: number, title: string, message: string, problems: readonly RestProblem[] = []) {
    super(message);
    this.name = 'RestFault';
    this.status = status;
    this.title = title;
    this.problems = problems;
  }
}

/** Makes the fault of an answer that is not good. */
export async function restFault(response: Response): Promise<RestFault> {
  const text = await response.text();
  const title = `${response.status} ${response.statusText}`.trim();
  try {
    const { detail } = JSON.parse(text) as { detail: string | RestProblem[] };
    if (typeof detail === 'string') return new RestFault(response.status, title, detail);
    const message = detail.length === 1 ? detail[0]!.msg : `${detail.length} problems in the request.`;
    return new RestFault(response.status, title, message, detail);
  } catch {
    return new RestFault(response.status, title, text.slice(0, 300) || 'The answer says nothing more.');
  }
}
