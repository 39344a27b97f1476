import type { DestinationFormat } from '../../store/destinations.ts';
import type { Job } from '../../store/documents.ts';

/** The results of a job in one format. */
export interface JobFile {
  contentType: string;
  /** Extension of its name, without a dot. */
  extension: string;
  /** Reads the file from the start. Every call yields the same bytes. Throws `results_deleted`. */
  read(): AsyncIterable<Uint8Array>;
}

/** Returns the results of an ended job in a format. Nothing is read until the file is. */
export type OpenResults = (job: Job, format: DestinationFormat) => JobFile;
