import type { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../page.ts';
import type { ResponseHead } from './head.ts';

/** Head of a response, and the time at which it arrived. */
export interface ReceivedHead extends ResponseHead {
  at: number;
}

/** Statuses of errors that a page does not overcome by another request. */
const finalErrors: readonly number[] = [404, 410];

/**
 * Responses to the requests of a page for the wanted path. The first good one is the result. A page
 * may repeat a request that failed, for example with a new token, so that errors only count once it
 * is idle.
 */
export class WantedResponses {
  /** Requests in progress, with the heads of their responses. */
  readonly #requests = new Map<string, ReceivedHead | null>();
  #error: PageResponse | null = null;
  #fault: Fault | null = null;

  begin(requestId: string): void {
    this.#requests.set(requestId, null);
  }

  /** Returns true for a request that was not taken, and has not failed. */
  has(requestId: string): boolean {
    return this.#requests.has(requestId);
  }

  setHead(requestId: string, head: ReceivedHead): void {
    this.#requests.set(requestId, head);
  }

  headOf(requestId: string): ReceivedHead | null {
    return this.#requests.get(requestId) ?? null;
  }

  /** Ends a request whose response is not needed. */
  forget(requestId: string): void {
    this.#requests.delete(requestId);
  }

  /** Ends a request that failed. */
  fail(requestId: string, fault: Fault): void {
    this.forget(requestId);
    this.#fault = fault;
  }

  /** Ends a request with its response. Returns true if it is the result, and keeps any other. */
  receive(requestId: string, response: PageResponse): boolean {
    this.forget(requestId);
    const { status } = response;
    if ((status >= 200 && status <= 299) || finalErrors.includes(status)) return true;
    this.#error = response;
    return false;
  }

  /** The last error of the site. */
  get error(): PageResponse | null {
    return this.#error;
  }

  /** The last failure of a request without a response. */
  get fault(): Fault | null {
    return this.#fault;
  }
}
