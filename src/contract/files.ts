/** Size and digest of a file, as they were when it was written. */
export interface FileRecord {
  bytes: number;
  /** SHA-256 of the contents in hexadecimal. */
  sha256: string;
}

/** Source of a file that is a range of another one: `head`, the bytes of the range, `tail`. */
export interface FilePlace {
  head: string;
  /** `<job id>/<file name>` of the other file. */
  path: string;
  /** Byte range of it, `end` exclusive. */
  start: number;
  end: number;
  tail: string;
}

/** First letters of the names of batches' files. */
export const batchFilePrefix = 'batch_';

/**
 * Returns true for the file of a batch. Its rows move to the merged file when the job ends, so that
 * a link of the storage engine would end with the job.
 */
export const isBatchFile = (path: string): boolean =>
  path.slice(path.lastIndexOf('/') + 1).startsWith(batchFilePrefix);

/** The verified contents of a link to a file. */
export interface SignedFile {
  /** `<job id>/<file name>`. */
  path: string;
  /** File name for Content-Disposition. */
  fileName: string;
  /** True if the request must also carry an API key of `userId`. */
  bearer: boolean;
  /** Owner of the file. Empty if the link alone grants access. */
  userId: string;
  /**
   * Format to convert the records to, from the name in the link. Absent for the unconverted file.
   */
  format?: string | undefined;
  /** What the file must be. Absent in links without a record. */
  record?: FileRecord | undefined;
}

/** Records of a file to return, as the query of its link says. Each may be empty. */
export interface FileConversion {
  format: string;
  /** `changed` for the records of items that changed since the last run. */
  only: string;
  /** `standard` for the columns that every kind and marketplace has. */
  columns: string;
}

/** Records of a result file in another format. */
export interface ConvertedFile {
  contentType: string;
  /** Name to save the records under. */
  fileName: string;
  bytes: AsyncIterable<Uint8Array>;
}
