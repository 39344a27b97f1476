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
