/** Returns a text with exactly one full stop at its end. */
export function sentence(text: string): string {
  return `${text.replace(/[.\s]+$/, "")}.`;
}

/** Returns the call and the database of a message: `get: the database at /data`. */
export function databaseOf(operation: string | undefined, path: string | undefined): string {
  const place = path === undefined ? "" : ` at ${path}`;
  return operation === undefined ? `The database${place}` : `${operation}: the database${place}`;
}

/** Returns the first line of an error's message as a sentence for another message. */
export function causeSentence(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  // A failed read may cause a failed commit. Its message would repeat the advice.
  const isEngineFailure = (cause as { code?: unknown }).code === "KW_ENGINE_FAILED";
  if (isEngineFailure) return causeSentence(cause.cause);
  const [firstLine = ""] = cause.message.split("\n");
  return firstLine === "" ? "" : ` Cause: ${sentence(firstLine)}`;
}

export function versionstampReason(versionstamp: unknown): string {
  if (versionstamp === undefined) return "it is undefined";
  if (typeof versionstamp === "object") return "it is an object";
  if (typeof versionstamp !== "string") return `it is a ${typeof versionstamp}`;
  if (versionstamp.length !== 20) return `its length is ${versionstamp.length}`;
  return "it has a character other than 0-9 and a-f";
}

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

/** The limits of the owner of a database, which no option of `openKv` changes. */
const ownersLimitTexts: Readonly<Record<string, LimitText>> = {
  watchedBytes: {
    subject: "the watches of this process take",
    unit: "bytes in the owner of the database",
    remedy: "End some watches, or watch fewer keys and ranges",
  },
};

const otherLimit: LimitText = {
  subject: "the call has",
  unit: "of it",
  remedy: "Make the call smaller",
};

/** @param actual NaN if it is not known. */
export function limitMessage(limit: string, max: number, actual: number): string {
  const isOwners = Object.hasOwn(ownersLimitTexts, limit);
  const { subject, unit, remedy } = ownersLimitTexts[limit] ?? limitTexts[limit] ?? otherLimit;
  const option = isOwners ? "" : `, or open the database with a higher limits.${limit}`;
  const size = Number.isNaN(actual) ? "" : `${subject} ${actual} ${unit}, and `;
  return `The limit ${limit} is exceeded: ${size}the maximum is ${max}. ${remedy}${option}.`;
}
