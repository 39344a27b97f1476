import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { Log } from '../base/log.ts';

/** Number of parts of the SDK that report to the log. */
let users = 0;

/** Logs the problems of the SDK, such as failed exports, which it reports only here. */
export function reportDiagnostics(log: Log): void {
  users += 1;
  const report = (message: string, ...details: unknown[]) => log.warn({ details }, `telemetry: ${message}`);
  const quiet = () => {};
  diag.setLogger(
    { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** Ends the reports once each of their users has ended. */
export function clearDiagnostics(): void {
  users -= 1;
  if (users === 0) diag.disable();
}
