/** Result of one check of an installation. */
export interface Diagnosis {
  /** Subject: "node", "browser", "HTTP port". */
  name: string;
  /**
   * `warning`: the service works, but not everything that is configured. `error`: it does not start
   * or does not work.
   */
  state: 'ok' | 'warning' | 'error';
  message: string;
  /** Remedy. Names of settings and files are between backticks. Empty if there is none. */
  remedy: string;
  /** Section of the documentation about the remedy: "fetching#point-the-service-at-real-sites". */
  guide?: string | undefined;
}

export const ok = (name: string, message: string): Diagnosis => ({
  name,
  state: 'ok',
  message,
  remedy: '',
});

export const warning = (
  name: string,
  message: string,
  remedy: string,
  guide?: string,
): Diagnosis => ({
  name,
  state: 'warning',
  message,
  remedy,
  guide,
});

export const error = (name: string, message: string, remedy: string): Diagnosis => ({
  name,
  state: 'error',
  message,
  remedy,
});
