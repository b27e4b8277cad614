import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { AtomicOperation } from "../src/kv/atomic-operation.js";
import { openKv } from "../src/kv/open-kv.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { denoCompatDifferences, isListed } from "./deno-compat-differences.js";
import { type DenoCaseContext, denoCases, denoContext, outcomeOf } from "./golden/deno-cases.mjs";
import { hasMessagesOfV8 } from "./javascript-engine.js";

const deno = denoContext();

interface RecordedCalls {
  readonly deno: string;
  readonly calls: Readonly<Record<string, unknown>>;
}

const file = new URL("golden/deno-calls.json", import.meta.url);
const recorded = JSON.parse(readFileSync(file, "utf8")) as RecordedCalls;

describe(`compat mode does as Deno ${recorded.deno}`, () => {
  it("in every recorded call", () => {
    expect([...denoCases.keys()]).toEqual(Object.keys(recorded.calls));
  });

  for (const name of denoCases.keys()) {
    const isDifferent = isListed(denoCompatDifferences, name);
    it(isDifferent ? `but not where ${name}` : name, async () => {
      const expected = await outcomeInDeno(name);
      const outcome = await outcomeInCompatMode(name);
      if (isDifferent) expect(outcome).not.toEqual(expected);
      else if (deno === undefined && isInspection(name))
        expect(withoutLayout(outcome)).toEqual(withoutLayout(expected));
      else if (hasMessagesOfV8 || !isMessageOfV8(expected)) expect(outcome).toEqual(expected);
      else expect(withoutMessage(outcome)).toEqual(withoutMessage(expected));
    });
  }
});

/** True for the outcome of a call whose error is one of the engine's. */
function isMessageOfV8(outcome: unknown): boolean {
  const { threw, rejected } = outcome as { threw?: unknown; rejected?: unknown };
  return /could not be cloned|Cannot (read|convert)|called on null/.test(String(threw ?? rejected));
}

/** The error of an outcome as its class and name alone. */
function withoutMessage(outcome: unknown): unknown {
  const entries = Object.entries(outcome as Record<string, unknown>);
  return entries.map(([kind, error]) => [kind, String(error).split(": ").slice(0, 2)]);
}

async function outcomeInCompatMode(name: string): Promise<unknown> {
  const { given, run } = denoCases.get(name)!;
  const kv = await openKv(":memory:", { compat: "deno" });
  try {
    const context: DenoCaseContext = {
      kv,
      openKv: (path) => openKv(path, { compat: "deno" }),
      KvU64,
      AtomicOperation,
      inspectByNode: inspect,
      inspectByDeno: deno?.inspectByDeno ?? ((object) => inspect(object, { depth: 4 })),
    };
    await given?.(context);
    return await outcomeOf(run, context);
  } finally {
    await kv[Symbol.asyncDispose]();
  }
}

/** Makes the call on Deno KV itself if this is the recorded version of Deno. */
async function outcomeInDeno(name: string): Promise<unknown> {
  if (deno === undefined || process.versions.deno !== recorded.deno) return recorded.calls[name];
  const { given, run } = denoCases.get(name)!;
  const kv = await deno.openKv(":memory:");
  const context = { ...deno, kv };
  try {
    await given?.(context);
    const outcome = await outcomeOf(run, context);
    expect(outcome).toEqual(recorded.calls[name]);
    return outcome;
  } finally {
    kv[Symbol.dispose]();
  }
}

/** True for a call that returns the text of an object. Runtimes divide it into different lines. */
function isInspection(name: string): boolean {
  return name.startsWith("inspect: ");
}

function withoutLayout(outcome: unknown): string {
  return JSON.stringify(outcome)
    .replaceAll(String.raw`\"`, "'")
    .replace(/(\\n|\s)+/g, " ");
}
