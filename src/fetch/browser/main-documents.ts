import type { CDPSession, Protocol } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../page.ts';
import { readResponseBody, serializeDocument } from './page-body.ts';
import type { ReceivedHead } from './wanted-responses.ts';

/** Response with a document of the main frame. */
interface MainDocument extends ReceivedHead {
  id: string;
  html: boolean;
  /** True once its bytes have arrived. */
  isComplete: boolean;
}

const htmlTypes: readonly string[] = ['text/html', 'application/xhtml+xml'];

/** Statuses of responses without a body. */
const statusesWithoutBody: readonly number[] = [204, 205];

/** Errors of the browser for an HTTP error without a body, and for a login that it cannot show. */
export const statusErrors: readonly string[] = [
  'net::ERR_HTTP_RESPONSE_CODE_FAILURE',
  'net::ERR_INVALID_AUTH_CREDENTIALS',
];

/** Failure of a document: an error with a status but no body, a download, or a network error. */
export type DocumentFailure = 'status_only' | 'download' | 'network';

/** Options for MainDocuments. */
export interface MainDocumentsOptions {
  cdp: CDPSession;
  /** Id of the main frame. */
  mainFrame: string;
  /** Maximum bytes of a serialized document. */
  maxBytes: number;
}

/** Documents of a page's main frame, and the displayed one. */
export class MainDocuments {
  readonly #options: MainDocumentsOptions;
  /** Responses to requests for the main document, by request id. */
  readonly #documents = new Map<string, MainDocument>();
  #shown: MainDocument | null = null;

  constructor(options: MainDocumentsOptions) {
    this.#options = options;
  }

  add(requestId: string, head: ReceivedHead, { mimeType }: Protocol.Network.Response): void {
    this.#documents.set(requestId, {
      ...head,
      id: requestId,
      html: htmlTypes.includes(mimeType),
      isComplete: false,
    });
  }

  has(requestId: string): boolean {
    return this.#documents.has(requestId);
  }

  headOf(requestId: string): ReceivedHead | undefined {
    return this.#documents.get(requestId);
  }

  /** Shows the document of a request, after a navigation. */
  show(requestId: string): void {
    this.#shown = this.#documents.get(requestId) ?? this.#shown;
  }

  get shown(): Readonly<MainDocument> | null {
    return this.#shown;
  }

  complete(requestId: string): void {
    const document = this.#documents.get(requestId);
    if (document) document.isComplete = true;
  }

  /** Returns how the request of a document failed, or null if the shown document remains. */
  failureOf(requestId: string, errorText: string): DocumentFailure | null {
    const document = this.#documents.get(requestId);
    const isAborted = errorText === 'net::ERR_ABORTED';
    // A page may navigate or stop loading.
    if (!document || (this.#shown && (isAborted || this.#shown.id !== requestId))) return null;
    if (statusesWithoutBody.includes(document.status) || statusErrors.includes(errorText))
      return 'status_only';
    return isAborted ? 'download' : 'network';
  }

  /**
   * Returns the shown document: as rendered if it is loaded, otherwise as it was received, because
   * a script that does not respond keeps the rest of a complete document from being parsed.
   */
  async read(isLoaded: boolean): Promise<PageResponse> {
    if (!this.#shown) throw new Fault('page_unreadable', 'the site showed no page');
    const { cdp, mainFrame, maxBytes } = this.#options;
    const { id, html, status, url, headers, at } = this.#shown;
    const body = await (html && isLoaded
      ? serializeDocument(cdp, mainFrame, maxBytes)
      : readResponseBody(cdp, id));
    const types = html ? { 'content-type': 'text/html; charset=utf-8' } : {};
    return {
      status,
      url,
      headers: { ...headers, ...types },
      body,
      at,
    };
  }
}
