import type { Browser } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';

/**
 * Time in which a browser that sends datagrams finds an address to send them from, in milliseconds.
 */
const gatherMs = 3_000;

/** Resolves with the addresses from which a page could send datagrams. */
const gatherCandidates = `new Promise((resolve) => {
  const candidates = [];
  const connection = new RTCPeerConnection();
  const end = () => {
    connection.close();
    resolve(candidates);
  };
  connection.onicecandidate = ({ candidate }) => {
    if (candidate === null) end();
    else if (candidate.candidate !== '') candidates.push(candidate.candidate);
  };
  connection.createDataChannel('check');
  connection.setLocalDescription();
  setTimeout(end, ${gatherMs});
})`;

/**
 * Checks that pages cannot send datagrams by WebRTC, which would reach private addresses and bypass
 * proxies. The flag that forbids it has had two names, and a browser ignores an unknown one.
 * Rejects with `browser_failed`.
 */
export async function assertNoDatagrams(browser: Browser): Promise<void> {
  const page = await browser.newPage();
  try {
    const candidates = (await page.evaluate(gatherCandidates)) as string[];
    if (candidates.length === 0) return;
    throw new Fault(
      'browser_failed',
      'pages of this browser can send datagrams past the limits on addresses',
    );
  } finally {
    await page.close();
  }
}
