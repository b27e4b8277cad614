import { isKeywrightError } from "@keywright/core";
import {
  type Attributes,
  type HrTime,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { QueryEvent } from "./context/database-settings.js";

/** How calls are traced. */
export interface TraceOptions {
  /** Makes the spans; without it the tracer `@keywright/orm` of the global provider. */
  readonly tracer?: Tracer;
}

/**
 * Makes an OpenTelemetry span of each call of a repository, a child of the span that is active where the call is made.
 *
 * ```ts
 * const db = await createDatabase({ kv, models: { users: User }, onQuery: traceQueries() });
 * ```
 *
 * A span is named for model and method, `users.findMany`, is of kind client, and lasts as long as the call. Its attributes
 * are those of OpenTelemetry's conventions for databases, `db.system.name`, `db.operation.name`, `db.collection.name` and
 * `error.type`, which is the code of an error that has one, and `keywright.index` and `keywright.reads` beside them. No
 * values of rows or queries are among them.
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

function attributesOf({ operation, model, index, reads }: QueryEvent): Attributes {
  return {
    "db.system.name": "keywright",
    "db.operation.name": operation,
    "db.collection.name": model,
    "keywright.reads": reads,
    ...(index !== undefined && { "keywright.index": index }),
  };
}

function recordError(span: Span, error: unknown, time: HrTime): void {
  const exception = error instanceof Error ? error : new Error(String(error));
  const type = isKeywrightError(error) ? error.code : exception.name;
  span.setAttribute("error.type", type);
  span.recordException(exception, time);
  span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
}

/** Seconds and nanoseconds: a plain number could be taken for a time since the process began. */
function timeOf(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.floor((milliseconds - seconds * 1000) * 1e6)];
}
