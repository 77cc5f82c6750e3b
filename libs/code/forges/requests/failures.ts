/** The forge cannot answer now. The message is a sentence for people. */
export class ForgeUnavailable extends Error {
  /** @param waitSeconds the time for which the forge wants no request; undefined: it does not say */
  constructor(
    message: string,
    readonly waitSeconds?: number,
  ) {
    super(message);
  }
}

/** A person has to mend something. The message is a sentence for them. */
export class ForgeRefusal extends Error {
  /** @param status of HTTP */
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}
