import { expect, test } from 'vitest';
import { driverReason } from './driver-error.ts';

test.each([
  [
    "Target.setDiscoverTargets timed out. Increase the 'protocolTimeout' setting in launch/connect calls",
    'it does not respond',
  ],
  ['Timed out after 30000 ms while waiting for the browser', 'it does not respond'],
  ['Protocol error (Target.setDiscoverTargets): Target closed', 'it ended'],
  ['Session closed. Most likely the page has been closed.', 'it ended'],
  ['Protocol error: Connection closed.', 'it ended'],
  ['Page crashed!', 'it ended'],
  ['opening a page took longer than 8000 ms', 'opening a page took longer than 8000 ms'],
  ['spawn /opt/b ENOENT\n    at x', 'spawn /opt/b ENOENT'],
])('driverReason() tells operators about %s', (message, reason) => {
  expect(driverReason(new Error(message))).toBe(reason);
});
