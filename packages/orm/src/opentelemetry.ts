import { isKeywrightError } from "@keywright/core";
import {
  type Attributes,
  type HrTime,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { JobTracing, QueryEvent } from "./state/context/database-settings.js";

/** Options of {@link traceQueries}. */
export interface TraceOptions {
  /** Creates the spans. The default is the tracer `@keywright/orm` of the global provider. */
  readonly tracer?: Tracer;
}

/**
 * Returns an `onQuery` function that creates an OpenTelemetry span for each call of a repository.
 * Its parent is the span that is active where the call is made.
 *
 * ```ts
 * const db = await createDatabase({ kv, models: { users: User }, onQuery: traceQueries() });
 * ```
 *
 * The name of a span consists of the model and the method, such as `users.findMany`. Its kind is
 * client, and it lasts as long as the call. Its attributes follow OpenTelemetry's conventions for
 * databases: `db.system.name`, `db.operation.name`, `db.collection.name`, and `error.type`, which
 * is the code of the error or else its name. Two more attributes are `keywright.index` and
 * `keywright.reads`. The attributes contain no values of rows or queries.
 */
export function traceQueries(options: TraceOptions = {}): (event: QueryEvent) => void {
  const tracer = options.tracer ?? trace.getTracer("@keywright/orm");
  return (event) => {
    const { operation, model, startedAt, milliseconds, error } = event;
    const span = tracer.startSpan(`${model}.${operation}`, {
      kind: SpanKind.CLIENT,
      startTime: timeOf(startedAt),
      attributes: attributesOf(event),
    });
    const endedAt = timeOf(startedAt + milliseconds);
    if (error !== undefined) recordError(span, error, endedAt);
    span.end(endedAt);
  };
}

/**
 * Returns the option `jobTracing` of `createDatabase` that connects the traces of calls that
 * enqueue jobs with those of their runs. The span that is active when a job is enqueued is stored
 * with the job, by the same commit. Each run of the job is a span that links to it, and that is
 * active in the handler.
 *
 * ```ts
 * const jobTracing = traceJobs();
 * const db = await createDatabase({ kv, models, jobs: { sendMail: SendMail }, jobTracing });
 * ```
 *
 * The name of a span is `process` with the name of the job, such as `process send-mail`. Its kind
 * is consumer. Its attributes follow OpenTelemetry's conventions for messaging:
 * `messaging.system`, `messaging.operation.type`, `messaging.destination.name`,
 * `messaging.message.id` and `error.type`. `keywright.attempt` is the number of the attempt. The
 * attributes contain no payloads.
 */
export function traceJobs(options: TraceOptions = {}): JobTracing {
  const tracer = options.tracer ?? trace.getTracer("@keywright/orm");
  return {
    current: () => {
      const active = trace.getActiveSpan()?.spanContext();
      return active === undefined || !isSpanContextValid(active) ? null : traceparentOf(active);
    },
    run: (job, stored, handler) => {
      const cause = stored === null ? undefined : spanContextOf(stored);
      const settings = {
        kind: SpanKind.CONSUMER,
        links: cause === undefined ? [] : [{ context: cause }],
        attributes: {
          "messaging.system": "keywright",
          "messaging.operation.type": "process",
          "messaging.destination.name": job.name,
          "messaging.message.id": job.id,
          "keywright.attempt": job.attempt,
        },
      };
      // A run belongs to no other span, whatever is active where the worker was started.
      return tracer.startActiveSpan(`process ${job.name}`, settings, ROOT_CONTEXT, async (span) => {
        try {
          return await handler();
        } catch (error) {
          recordError(span, error);
          throw error;
        } finally {
          span.end();
        }
      });
    },
  };
}

/** Returns a span context as the header `traceparent` of W3C Trace Context has it. */
function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** Returns undefined if the text is of a later version of the format, or of something else. */
function spanContextOf(traceparent: string): SpanContext | undefined {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent);
  if (parts === null) return undefined;
  const [, traceId, spanId, flags] = parts as unknown as [string, string, string, string];
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function attributesOf({ operation, model, index, reads }: QueryEvent): Attributes {
  return {
    "db.system.name": "keywright",
    "db.operation.name": operation,
    "db.collection.name": model,
    "keywright.reads": reads,
    ...(index !== undefined && { "keywright.index": index }),
  };
}

function recordError(span: Span, error: unknown, time?: HrTime): void {
  const exception = error instanceof Error ? error : new Error(String(error));
  const type = isKeywrightError(error) ? error.code : exception.name;
  span.setAttribute("error.type", type);
  span.recordException(exception, time);
  span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
}

/** Returns seconds and nanoseconds: a plain number could count from the start of the process. */
function timeOf(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.floor((milliseconds - seconds * 1000) * 1e6)];
}
