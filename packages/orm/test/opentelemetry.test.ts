import { AsyncLocalStorage } from "node:async_hooks";
import { openKv } from "@keywright/core";
import {
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, type Database, defineJob } from "../src/index.js";
import { type TraceOptions, traceJobs, traceQueries } from "../src/opentelemetry.js";
import { rejection, User, users } from "./user-model.js";

/** Keeps what is active along with promises, as OpenTelemetry's own for Node.js does. */
class StorageContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    body: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => body.apply(thisArg, args));
  }

  bind<T>(_active: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

afterEach(() => {
  trace.disable();
  context.disable();
});

function recordingProvider(): { exporter: InMemorySpanExporter; provider: BasicTracerProvider } {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  return { exporter, provider: new BasicTracerProvider({ spanProcessors }) };
}

async function withUsers(
  options: TraceOptions,
  body: (db: Database<{ users: typeof User }>) => Promise<void>,
): Promise<void> {
  const kv = await openKv();
  try {
    const onQuery = traceQueries(options);
    await body(await createDatabase({ kv, models: { users: User }, onQuery }));
  } finally {
    await kv.close();
  }
}

describe("traceQueries", () => {
  it("makes a span of each call, with the attributes of OpenTelemetry's database conventions", async () => {
    const { exporter, provider } = recordingProvider();
    await withUsers({ tracer: provider.getTracer("test") }, async (db) => {
      const began = Date.now();
      await db.users.create({ data: users.ada });
      await db.users.findMany({ where: { favoriteColor: "green" } });
      const [created, found] = exporter.getFinishedSpans();
      expect(created).toMatchObject({
        name: "users.create",
        kind: SpanKind.CLIENT,
        status: { code: SpanStatusCode.UNSET },
        events: [],
      });
      expect(found?.name).toBe("users.findMany");
      expect(found?.attributes).toEqual({
        "db.system.name": "keywright",
        "db.operation.name": "findMany",
        "db.collection.name": "users",
        "keywright.index": "byFavoriteColor",
        "keywright.reads": 2,
      });
      const [seconds, nanoseconds] = found?.startTime ?? [0, 0];
      expect(seconds * 1000 + nanoseconds / 1e6).toBeGreaterThanOrEqual(began - 1);
      const [length, rest] = found?.duration ?? [0, 0];
      expect(length).toBe(0);
      expect(rest).toBeGreaterThan(0);
    });
  });

  it("records what a call throws, and says its code", async () => {
    const { exporter, provider } = recordingProvider();
    await withUsers({ tracer: provider.getTracer("test") }, async (db) => {
      await db.users.create({ data: users.ada });
      exporter.reset();
      const error = await rejection(db.users.create({ data: users.ada }));
      const [span] = exporter.getFinishedSpans();
      expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: error.message });
      expect(span?.attributes["error.type"]).toBe("KW_UNIQUE_CONSTRAINT");
      expect(span?.events).toMatchObject([
        { name: "exception", attributes: { "exception.message": error.message } },
      ]);
    });
  });

  it("makes it a child of the span in which the call is made, by the tracer of the global provider", async () => {
    const { exporter, provider } = recordingProvider();
    context.setGlobalContextManager(new StorageContextManager());
    await withUsers({}, async (db) => {
      // Set later than the function was made: programs do it in any order.
      trace.setGlobalTracerProvider(provider);
      await trace.getTracer("test").startActiveSpan("request", async (request) => {
        await db.users.create({ data: users.ada });
        for await (const _user of db.users.scan()) break;
        request.end();
      });
      const spans = exporter.getFinishedSpans();
      const request = spans.find(({ name }) => name === "request");
      const children = spans.filter(({ name }) => name !== "request");
      expect(children.map(({ name }) => name)).toEqual(["users.create", "users.scan"]);
      for (const { parentSpanContext, instrumentationScope } of children) {
        expect(parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
        expect(instrumentationScope.name).toBe("@keywright/orm");
      }
    });
  });

  it("needs the API where it is imported, and the rest of the package does not", async () => {
    const { readFile, readdir } = await import("node:fs/promises");
    const source = new URL("../src/", import.meta.url);
    const files = await readdir(source, { recursive: true });
    const importers: string[] = [];
    for (const file of files.filter((name) => name.endsWith(".ts"))) {
      const text = await readFile(new URL(file, source), "utf8");
      if (/@opentelemetry|\/opentelemetry\.js/.test(text)) importers.push(file);
    }
    expect(importers).toEqual(["opentelemetry.ts"]);
  });
});

describe("traceJobs", () => {
  const Mail = defineJob({
    name: "mail",
    schema: z.object({ to: z.string() }),
    retry: { attempts: 2, backoff: "fixed", delay: 1, jitter: 0 },
  });

  it("links each run of a job to the span in which it was enqueued", async () => {
    const { exporter, provider } = recordingProvider();
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new StorageContextManager());
    const tracer = trace.getTracer("test");
    const kv = await openKv();
    try {
      const jobTracing = traceJobs();
      const options = { models: { users: User }, jobs: { mail: Mail }, jobTracing };
      const db = await createDatabase({ kv, ...options, onQuery: traceQueries() });
      const id = await tracer.startActiveSpan("request", async (request) => {
        const enqueued = await db.transaction(async (tx) => {
          await tx.users.create({ data: users.ada });
          return await tx.jobs.mail.enqueue({ to: "a" });
        });
        request.end();
        return enqueued.id;
      });
      let attempts = 0;
      const work = async () => {
        await db.users.findMany({ where: { favoriteColor: "green" } });
        if (++attempts === 1) throw new RangeError("no mailbox");
      };
      const worker = tracer.startActiveSpan("start", (start) => {
        start.end();
        return db.work({ mail: work }, { onError: () => undefined });
      });
      await expect.poll(() => attempts).toBe(2);
      await worker.stop();
      const spans = exporter.getFinishedSpans();
      const request = spans.find(({ name }) => name === "request")!;
      const runs = spans.filter(({ name }) => name === "process mail");
      expect(runs).toHaveLength(2);
      for (const [i, run] of runs.entries()) {
        expect(run.kind).toBe(SpanKind.CONSUMER);
        expect(run.parentSpanContext).toBeUndefined();
        const { traceId, spanId, traceFlags } = request.spanContext();
        const cause = { traceId, spanId, traceFlags, isRemote: true };
        expect(run.links.map((link) => link.context)).toEqual([cause]);
        expect(run.spanContext().traceId).not.toBe(traceId);
        expect(run.attributes).toMatchObject({
          "messaging.system": "keywright",
          "messaging.destination.name": "mail",
          "messaging.message.id": id,
          "keywright.attempt": i + 1,
        });
      }
      expect(runs[0]!.attributes["error.type"]).toBe("RangeError");
      expect(runs[0]!.status.code).toBe(SpanStatusCode.ERROR);
      expect(runs[1]!.status.code).toBe(SpanStatusCode.UNSET);
      const reads = spans.filter(({ name }) => name === "users.findMany");
      expect(reads.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
        runs.map((run) => run.spanContext().spanId),
      );
    } finally {
      await kv.close();
    }
  });

  it("runs jobs that were enqueued outside of a span, or with a text that it does not know", async () => {
    const { exporter, provider } = recordingProvider();
    const kv = await openKv();
    try {
      const tracer = provider.getTracer("own");
      const texts = [null, "01-future"];
      const jobTracing = { ...traceJobs({ tracer }), current: () => texts.shift() ?? null };
      const db = await createDatabase({ kv, models: {}, jobs: { mail: Mail }, jobTracing });
      for (const to of ["a", "b"]) await db.jobs.mail.enqueue({ to });
      let runs = 0;
      const worker = db.work({ mail: () => void runs++ });
      await expect.poll(() => runs).toBe(2);
      await worker.stop();
      expect(exporter.getFinishedSpans().map(({ links }) => links)).toEqual([[], []]);
    } finally {
      await kv.close();
    }
  });

  it("is refused if it is something else", async () => {
    await using kv = await openKv();
    const jobTracing = {} as ReturnType<typeof traceJobs>;
    const creating = createDatabase({ kv, models: {}, jobs: { mail: Mail }, jobTracing });
    await expect(creating).rejects.toMatchObject({ code: "KW_ARGUMENT_INVALID" });
  });
});
