import { Buffer } from "node:buffer";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type AtomicOperation,
  decodeKey,
  type EmbeddedKv,
  isKeywrightError,
  type KvKey,
} from "@keywright/core";
import { denoOrder, type ServedDatabase } from "@keywright/core/serve";
import { RequestError } from "../http/request-error.js";
import { V8Budget } from "./check-v8.js";
import { decodeMessage } from "./decode-message.js";
import {
  AtomicWriteOutputSchema,
  AtomicWriteSchema,
  AtomicWriteStatus,
  type Check,
  type Enqueue,
  type Mutation,
  MutationType,
  ValueEncoding,
} from "./generated/datapath_pb.js";
import { valueFrom, valueOfV8 } from "./values.js";

/** The longest delay of a message in Deno KV: 30 days. */
const longestDelay = 30 * 24 * 3600 * 1000;

/** Commits a request of a client. The database checks it as it checks the calls of its own. */
export async function atomicWrite(
  kv: EmbeddedKv,
  database: ServedDatabase,
  body: Uint8Array,
): Promise<Uint8Array> {
  const { checks, mutations, enqueues } = decodeMessage(AtomicWriteSchema, body);
  const now = Date.now();
  const operation = kv.atomic();
  const budget = new V8Budget();
  try {
    for (const { key, versionstamp } of checks) {
      const stamp = versionstamp.length === 0 ? null : Buffer.from(versionstamp).toString("hex");
      operation.check({ key: keyOf(key), versionstamp: stamp });
    }
    for (const mutation of mutations) addMutation(operation, kv, mutation, { now, budget });
    for (const enqueue of enqueues) addMessage(operation, kv, enqueue, { now, budget });
    const result = await operation.commit();
    const output = result.ok
      ? {
          status: AtomicWriteStatus.AW_SUCCESS,
          versionstamp: Buffer.from(result.versionstamp, "hex"),
        }
      : {
          status: AtomicWriteStatus.AW_CHECK_FAILURE,
          failedChecks: await failedChecks(database, checks),
        };
    return toBinary(AtomicWriteOutputSchema, create(AtomicWriteOutputSchema, output));
  } catch (error) {
    // A mistake of the client. Everything else is a failure of the server.
    if (error instanceof TypeError || error instanceof RangeError)
      throw new RequestError(400, error.message);
    if (isKeywrightError(error) && !error.retryable && error.code.startsWith("KW_LIMIT"))
      throw new RequestError(400, error.message);
    throw error;
  }
}

/**
 * Returns the positions of the checks that fail. They are those that fail now: none, if a later
 * commit has made all of them true.
 */
async function failedChecks(
  { engine }: ServedDatabase,
  checks: readonly Check[],
): Promise<number[]> {
  const entries = await engine.getMany(checks.map(({ key }) => key));
  const stamps = entries.map((entry) => Buffer.from(entry?.versionstamp ?? "", "hex"));
  return [...checks.keys()].filter((i) => !stamps[i]!.equals(checks[i]!.versionstamp));
}

interface WriteContext {
  /** The time of the request, in milliseconds since the epoch. */
  readonly now: number;
  readonly budget: V8Budget;
}

function addMutation(
  operation: AtomicOperation,
  kv: EmbeddedKv,
  { key: bytes, value, mutationType, expireAtMs, sumMin, sumMax, sumClamp }: Mutation,
  { now, budget }: WriteContext,
): void {
  const key = keyOf(bytes);
  const given = () => {
    if (value === undefined) throw new TypeError("A mutation has no value.");
    assertSize(kv, value.data);
    return valueFrom(value, budget);
  };
  // Something that has expired already is stored for a millisecond.
  const expireIn = Math.max(1, Number(expireAtMs) - now);
  const options = expireAtMs > 0n ? { expireIn } : undefined;
  switch (mutationType) {
    case MutationType.M_SET:
      operation.set(key, given(), options);
      return;
    case MutationType.M_SET_SUFFIX_VERSIONSTAMPED_KEY:
      operation.set([...key, kv.commitVersionstamp()], given(), options);
      return;
    case MutationType.M_DELETE:
      operation.delete(key);
      return;
    case MutationType.M_SUM:
    case MutationType.M_MAX:
    case MutationType.M_MIN: {
      const isLimited = sumMin.length > 0 || sumMax.length > 0 || sumClamp;
      if (value?.encoding !== ValueEncoding.VE_LE64 || isLimited)
        throw new TypeError("A sum, min or max is possible only of Deno.KvU64, without bounds.");
      const operand = (given() as { value: bigint }).value;
      if (mutationType === MutationType.M_SUM) operation.sum(key, operand);
      else if (mutationType === MutationType.M_MIN) operation.min(key, operand);
      else operation.max(key, operand);
      return;
    }
    default:
      throw new TypeError("A mutation has no known type.");
  }
}

function addMessage(
  operation: AtomicOperation,
  kv: EmbeddedKv,
  { payload, deadlineMs, keysIfUndelivered, backoffSchedule }: Enqueue,
  { now, budget }: WriteContext,
): void {
  assertSize(kv, payload);
  operation.enqueue(valueOfV8(payload, budget), {
    // The clock of the client may differ, so the longest delay is not refused for a millisecond.
    delay: Math.min(Math.max(0, Number(deadlineMs) - now), longestDelay),
    keysIfUndelivered: keysIfUndelivered.map(keyOf),
    backoffSchedule,
  });
}

/** Refuses a value that is too large before it is decoded. The commit checks its stored size. */
function assertSize({ limits: { valueBytes } }: EmbeddedKv, data: Uint8Array): void {
  if (data.length > valueBytes) throw new TypeError(`Value too large (max ${valueBytes} bytes)`);
}

function keyOf(bytes: Uint8Array): KvKey {
  try {
    return decodeKey(bytes, denoOrder);
  } catch (error) {
    throw new TypeError(`A key is not encoded as Deno encodes keys: ${(error as Error).message}`);
  }
}
