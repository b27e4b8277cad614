/** How far a copy has come. */
export interface CopyProgress {
  /** Entries that were copied, those of earlier calls that this one continues included. */
  readonly entries: number;
  /** Bytes of their keys and values as Keywright encodes them. */
  readonly bytes: number;
  /** Whether this call continues a copy that had stopped. */
  readonly resumed: boolean;
}

/** How `copyKv` copies. */
export interface CopyOptions {
  /** Called after each commit. Where it throws, the copy stops with its error. */
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Begin with the first entry, whatever an earlier call has left. */
  readonly restart?: boolean;
  /** Stops the copy, between two commits, with the reason of the signal. */
  readonly signal?: AbortSignal;
}
