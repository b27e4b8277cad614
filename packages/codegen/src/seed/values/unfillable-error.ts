/** A value that cannot be generated. It becomes a `SeedFieldError`, which names the model. */
export class UnfillableError extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], reason: string) {
    super(reason);
    this.path = path;
  }
}
