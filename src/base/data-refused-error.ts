import { type Component, Fault } from '../contract/fault.ts';

/** The program must not use the data. The process must end without a change. */
export class DataRefusedError extends Fault {
  constructor(message: string, cause?: Error, component: Component = 'store') {
    super('internal', message, { component, cause });
  }
}

/** The data was written by a newer version of the program. */
export class NewerDataError extends DataRefusedError {
  constructor(location: string, version: number, supported: number) {
    const support = `this program supports versions up to ${supported}`;
    const problem = `has schema version ${version}, but ${support}`;
    const remedy = 'install a newer version of Gleaner, or restore a backup of this one';
    super(`${location} ${problem}: ${remedy}`);
    this.name = 'NewerDataError';
  }
}

/** The data is the target of a move (`gleaner move`) that has not ended. */
export class IncompleteMoveError extends DataRefusedError {
  constructor(location: string, source: string) {
    const remedy = `repeat 'gleaner move ${source}', or drop the database`;
    super(`${location} contains an incomplete move of ${source}: ${remedy}`);
    this.name = 'IncompleteMoveError';
  }
}

/** The data cannot be read: it was overwritten, cut, or its disk fails. */
export class DamagedDataError extends DataRefusedError {
  constructor(location: string, cause: Error) {
    const problem = `is damaged, or its disk fails (${cause.message})`;
    const remedy = "check the disk, and restore a backup with 'gleaner restore'";
    super(`${location} ${problem}: ${remedy}`, cause);
    this.name = 'DamagedDataError';
  }
}

/** The database belongs to another installation than the files in the data folder. */
export class UnknownInstallationError extends DataRefusedError {
  constructor(location: string, problem: string) {
    const restore = "restore a backup to a new folder with 'gleaner restore'";
    const remedy = `put the database of this installation back, or ${restore}`;
    const advice = 'For a new installation, set GLEANER_DATA_DIR to another folder';
    super(`${location} ${problem}: ${remedy}. ${advice}`);
    this.name = 'UnknownInstallationError';
  }
}

/** The queue belongs to another installation, whose work this one would lose. */
export class ForeignQueueError extends DataRefusedError {
  constructor(stream: string, owner: string, installationId: string) {
    const problem =
      `The stream ${stream} on NATS belongs to the installation ${owner}, ` +
      `and the database to ${installationId}`;
    const remedy =
      'set NATS_URL to a server, or to an account with JetStream, that no other installation uses';
    const advice = `If the installation ${owner} does not exist any more, delete the stream`;
    super(`${problem}: ${remedy}. ${advice}`, undefined, 'queue');
    this.name = 'ForeignQueueError';
  }
}
