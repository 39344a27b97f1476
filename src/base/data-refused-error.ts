import { Fault } from '../contract/fault.ts';

/** The program must not use the data. The process must end without a change. */
export class DataRefusedError extends Fault {
  constructor(message: string) {
    super('internal', message, { component: 'store' });
  }
}

/** The data was written by a newer version of the program. */
export class NewerDataError extends DataRefusedError {
  constructor(place: string, version: number, supported: number) {
    super(
      `${place} has schema version ${version}, but this program supports versions up to ${supported}: install a newer version of Gleaner, or restore a backup of this one`,
    );
    this.name = 'NewerDataError';
  }
}

/** The data is the target of a move (`gleaner move`) that has not ended. */
export class IncompleteMoveError extends DataRefusedError {
  constructor(place: string, source: string) {
    super(
      `${place} contains an incomplete move of ${source}: repeat 'gleaner move ${source}', or drop the database`,
    );
    this.name = 'IncompleteMoveError';
  }
}
