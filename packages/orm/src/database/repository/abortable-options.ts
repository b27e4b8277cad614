/** Stops a read from outside. */
export interface AbortableOptions {
  /**
   * Stops the read: the call throws the reason of the signal, and a live query ends. A read of one
   * entry that has begun is completed.
   */
  readonly signal?: AbortSignal | undefined;
}
