/** Thrown when the mail server did not accept an email. */
export class MailFault extends Error {
  /** True if retrying is pointless because the server permanently refused the address or the message. */
  readonly final: boolean;

  constructor(message: string, final: boolean, cause: unknown) {
    super(message, { cause });
    this.final = final;
  }
}
