const maxAttempts = 3;

/** Something that every writer changes with the entries from which a value is computed. */
interface Reading<State, Value> {
  readonly read: () => Promise<State>;
  readonly isSame: (before: State, after: State) => boolean;
  readonly compute: (before: State) => Promise<Value>;
}

/**
 * Computes a value between two reads of a state, up to three times, until both reads return the
 * same. Then nothing has changed between the two reads. Undefined if something changed each time.
 */
export async function whileUnchanged<State, Value>({
  read,
  isSame,
  compute,
}: Reading<State, Value>): Promise<{ readonly state: State; readonly value: Value } | undefined> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const before = await read();
    const value = await compute(before);
    const state = await read();
    if (isSame(before, state)) return { state, value };
  }
  return undefined;
}
