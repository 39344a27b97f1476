import { ensureOperator } from '../access/operator.ts';
import { DataRefusedError } from '../base/data-refused-error.ts';
import { Fault } from '../contract/fault.ts';
import { addLoop, type StartingService } from './starting-service.ts';

const retryMs = 2_000;

/** First operator of an installation. */
export interface FirstOperator {
  /** False until it is in the store. */
  exists: boolean;
  /** Resolves with an error if the data cannot be used; pending otherwise. */
  refused: Promise<Error>;
}

/** Creates the first operator in the background. */
export function startOperator(starting: StartingService): FirstOperator {
  const { promise: refused, resolve: refuse } = Promise.withResolvers<Error>();
  const operator: FirstOperator = { exists: false, refused };
  const announced = announceOperator(starting).then(
    (isReady) => {
      operator.exists = isReady;
    },
    (error) => {
      if (!(error instanceof DataRefusedError)) throw error;
      refuse(error);
    },
  );
  addLoop(starting, announced);
  return operator;
}

/**
 * Creates the first operator once the store responds, and shows the key once. Resolves with false
 * if the process stops before. Throws a DataRefusedError if the process must stop.
 */
async function announceOperator({ program, say, stopping }: StartingService): Promise<boolean> {
  const { context, config, log, clock } = program;
  let isLogged = false;
  while (!stopping.aborted) {
    try {
      const operator = await ensureOperator(context.store, config.operatorKey, clock.now());
      if (operator.generatedKey !== null)
        say(`  Key of the first operator, shown once: ${operator.generatedKey}`);
      if (operator.revokedKeys > 0)
        log.info({ keys: operator.revokedKeys }, 'replaced operator keys revoked');
      if (operator.isRevoked)
        log.warn('GLEANER_OPERATOR_KEY is a revoked key: set another value or remove the setting');
      return true;
    } catch (error) {
      const fault = Fault.from(error);
      if (fault.code !== 'unavailable') throw error;
      if (!isLogged) log.warn({ error: fault.message }, 'store not ready');
      isLogged = true;
      await clock.sleep(retryMs, stopping).catch(() => {});
    }
  }
  return false;
}
