import { Fault } from '../contract/fault.ts';

/** The data was written by a newer version of the program. The process must end without a change. */
export class NewerDataError extends Fault {
  constructor(place: string, version: number, supported: number) {
    super(
      'internal',
      `${place} has schema version ${version}, but this program supports versions up to ${supported}: install a newer version of Gleaner, or restore a backup of this one`,
      { component: 'store' },
    );
    this.name = 'NewerDataError';
  }
}
