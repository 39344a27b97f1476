import type { CDPSession, Protocol } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import { type Head, headOf } from './head.ts';
import { createNavigations } from './navigations.ts';
import { isSameSite, type Opening } from './opening.ts';

type Paused = Protocol.Fetch.RequestPausedEvent;

/** What is held up for a decision: every document's request and answer, and what is never loaded. */
export const patterns: Protocol.Fetch.RequestPattern[] = [
  { resourceType: 'Document', requestStage: 'Request' },
  { resourceType: 'Document', requestStage: 'Response' },
  { resourceType: 'Image' },
  { resourceType: 'Media' },
  { resourceType: 'Font' },
];

/** What there is to tell of decisions. */
export interface Decisions {
  /** A redirect that is the answer itself. */
  redirect(head: Head): void;
  /** A document that says that it has so many bytes, which are too many. */
  tooLarge(): void;
  /** The page stays where it is: its way on was refused. */
  stays(): void;
  /** The page leads where it must not be followed. */
  forbidden(fault: Fault): void;
}

/**
 * Decides what a page may load: its document within the rules of navigation and of a size that can be
 * borne, frames of its own site, no images, media and fonts. Returns what takes each request that is held
 * up.
 */
export function intercept(
  cdp: CDPSession,
  main: string,
  opening: Opening,
  mostBytes: number,
  decisions: Decisions,
): (paused: Paused) => Promise<unknown> {
  const navigations = createNavigations(opening.origin, opening.take === 'response');

  const goOn = ({ requestId }: Paused) => cdp.send('Fetch.continueRequest', { requestId });
  const refuse = ({ requestId }: Paused, errorReason: Protocol.Network.ErrorReason) =>
    cdp.send('Fetch.failRequest', { requestId, errorReason });

  const asked = async (paused: Paused): Promise<unknown> => {
    const redirected = paused.redirectedRequestId !== undefined;
    const { url } = paused.request;
    const allowed = navigations.allows(url, redirected);
    try {
      if (allowed) opening.permits(url);
    } catch (fault) {
      decisions.forbidden(Fault.from(fault));
      return refuse(paused, 'Aborted');
    }
    if (allowed) return goOn(paused);
    await refuse(paused, 'Aborted');
    decisions.stays();
  };

  const answered = async (paused: Paused, status: number): Promise<void> => {
    const { request, responseHeaders = [] } = paused;
    const entries = responseHeaders.map(({ name, value }) => [name, value] as const);
    const head = headOf(status, entries, request.url);
    const [, length] = entries.find(([name]) => name.toLowerCase() === 'content-length') ?? [];
    const redirect = navigations.redirect(head);
    if (redirect === 'answer') decisions.redirect(head);
    else if (redirect === null && Number(length) > mostBytes) decisions.tooLarge();
    else return goOn(paused);
    await refuse(paused, 'Aborted');
  };

  return async (paused) => {
    const { resourceType, frameId, request, responseStatusCode, responseErrorReason } = paused;
    if (resourceType !== 'Document') return refuse(paused, 'BlockedByClient');
    if (frameId === main) {
      if (responseStatusCode !== undefined) return answered(paused, responseStatusCode);
      return responseErrorReason === undefined ? asked(paused) : goOn(paused);
    }
    const ours = !/^https?:/.test(request.url) || isSameSite(request.url, opening.origin);
    return ours ? goOn(paused) : refuse(paused, 'BlockedByClient');
  };
}
