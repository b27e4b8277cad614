interface LimitText {
  /** The thing that is limited, and the verb that goes with its size. */
  readonly subject: string;
  readonly unit: string;
  /** A clause that says how to stay within the limit. */
  readonly remedy: string;
}

const atomic = {
  subject: "the atomic operation has",
  remedy: "Divide the atomic operation into smaller ones",
};

/** The texts by the name of the limit, as in `KvLimits`. */
const limitTexts: Readonly<Record<string, LimitText>> = {
  keyBytes: { subject: "the encoded key has", unit: "bytes", remedy: "Use a shorter key" },
  valueBytes: { subject: "the encoded value has", unit: "bytes", remedy: "Store a smaller value" },
  keys: { subject: "the call has", unit: "keys", remedy: "Read fewer keys at once" },
  batchSize: { subject: "the batch has", unit: "entries", remedy: "Use a smaller batchSize" },
  watchedKeys: { subject: "the call has", unit: "keys", remedy: "Watch fewer keys at once" },
  checks: { ...atomic, unit: "checks" },
  mutations: { ...atomic, unit: "mutations" },
  totalMutationBytes: { ...atomic, unit: "bytes of keys and values" },
  totalKeyBytes: { ...atomic, unit: "bytes of keys" },
};

const otherLimit: LimitText = {
  subject: "the call has",
  unit: "of it",
  remedy: "Make the call smaller",
};

/**
 * Returns the message for an exceeded limit.
 *
 * @param actual NaN if it is not known.
 */
export function limitMessage(limit: string, max: number, actual: number): string {
  const { subject, unit, remedy } = limitTexts[limit] ?? otherLimit;
  const size = Number.isNaN(actual) ? "" : `${subject} ${actual} ${unit}, and `;
  return `The limit ${limit} is exceeded: ${size}the maximum is ${max}. ${remedy}, or open the database with a higher limits.${limit}.`;
}
