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
import type { QueryEvent } from "./state/context/database-settings.js";

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

/** Returns seconds and nanoseconds: a plain number could count from the start of the process. */
function timeOf(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.floor((milliseconds - seconds * 1000) * 1e6)];
}
