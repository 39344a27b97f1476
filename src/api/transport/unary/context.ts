import type { DescMethodUnary } from '@bufbuild/protobuf';
import type { ContextValues, HandlerContext } from '@connectrpc/connect';
import { type RpcExchange, valuesOf } from '../exchange.ts';
import type { UnaryForm } from './form.ts';

/** What a context of a unary call is created from. */
export interface UnaryContextInit {
  exchange: RpcExchange;
  method: DescMethodUnary;
  form: UnaryForm;
  url: string;
  /** Aborts when the client leaves, or the time of the call is over. */
  signal: AbortSignal;
  timeoutMs: number | undefined;
}

/**
 * Context of a unary call for its handler. Creating the headers takes as long as the call itself,
 * so that they are created when a handler uses them.
 */
export class UnaryContext implements HandlerContext {
  readonly method: DescMethodUnary;
  readonly protocolName: string;
  readonly url: string;
  readonly signal: AbortSignal;
  readonly values: ContextValues;
  readonly requestMethod = 'POST';
  readonly timeoutMs: () => number | undefined;
  readonly #exchange: RpcExchange;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor({ exchange, method, form, url, signal, timeoutMs }: UnaryContextInit) {
    this.method = method;
    this.protocolName = form.protocol.name;
    this.url = url;
    this.signal = signal;
    this.values = valuesOf(exchange);
    this.#exchange = exchange;
    const endsAt = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
    this.timeoutMs = () => (endsAt === undefined ? undefined : endsAt - performance.now());
  }

  get service() {
    return this.method.parent;
  }

  get requestHeader(): Headers {
    const { headers } = this.#exchange.request;
    this.#requestHeader ??= new Headers(
      Object.entries(headers).filter(([name]) => !name.startsWith(':')) as [string, string][],
    );
    return this.#requestHeader;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers();
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  /** The headers and the trailers of the response, as far as the handler used them. */
  get used(): { header: Headers | undefined; trailer: Headers | undefined } {
    return { header: this.#responseHeader, trailer: this.#responseTrailer };
  }
}
