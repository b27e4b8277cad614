/** A handler in another process has failed, or the process has ended. It reports its own errors. */
export class RemoteHandlerError extends Error {
  constructor() {
    super("A handler in another process has not taken a message.");
  }
}
