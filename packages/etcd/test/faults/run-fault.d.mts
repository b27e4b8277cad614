export interface FaultRun {
  readonly commits: number;
  /** How many calls failed, by the code of the error. */
  readonly errors: Readonly<Record<string, number>>;
  /** The longest time without a commit, in milliseconds. */
  readonly longestGap: number;
  /** The longest time in which one of the clients made no commit, in milliseconds. */
  readonly longestClientGap: number;
  /** What contradicts strict serializability. */
  readonly contradictions: readonly string[];
}

export declare const faults: Readonly<Record<string, unknown>>;
export declare function runFault(
  name: string,
  options?: { readonly sync?: boolean },
): Promise<FaultRun>;
