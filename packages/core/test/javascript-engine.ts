// What differs between V8, the engine of Node.js and Deno, and JavaScriptCore, the engine of Bun.
import { serialize, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * True if the engine's own errors have the messages of V8.
 */
export const hasMessagesOfV8: boolean = messageOf(() => Reflect.get(null as never, "x")).includes(
  "called on non-object",
);

/**
 * True if `structuredClone` copies the cause of an error. The HTML standard leaves that to the
 * engine.
 */
export const clonesCauses: boolean =
  structuredClone(new Error("a", { cause: "b" })).cause !== undefined;

/** True if `node:v8` writes values as V8 does, which `@deno/kv` needs. */
export const hasFormatOfV8: boolean = serialize(1)[0] === 0xff;

/** True if a NaN keeps its sign bit when it is read from one array and written to another. */
export const keepsSignOfNaN: boolean = hasSignBit(
  new Float64Array(new BigUint64Array([0xfff8000000000000n]).buffer)[0]!,
);

/** Returns a function that collects all garbage at once. */
export function garbageCollector(): () => void {
  const { Bun } = globalThis as { Bun?: { gc(now: true): void } };
  if (Bun !== undefined) return () => Bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

/** True for a number whose sign bit is set, which for a NaN only its bits tell. */
export function hasSignBit(value: number): boolean {
  return new BigUint64Array(new Float64Array([value]).buffer)[0]! >> 63n === 1n;
}

function messageOf(fails: () => unknown): string {
  try {
    fails();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}
