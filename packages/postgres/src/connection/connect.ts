import { DatabaseClosedError } from "@keywright/core";
import pg from "pg";
import { isAnswer, refusalOf } from "../errors/refusal-of.js";
import type { EngineSettings } from "../settings/engine-settings.js";

const { Client } = pg;

/** The error of a server that accepts connections but no writes, with the code of PostgreSQL. */
class ReadOnlyServerError extends Error {
  readonly code = "25006";
  readonly severity = "ERROR";
}

/**
 * Returns whether the session refuses writes, and makes its statements use the index even if the
 * table was small when they were planned. A server without this setting ignores it.
 */
const prepareSession = `
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS read_only,
    (SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'enable_seqscan')`;

export interface ConnectLimits {
  /** Ends the attempt when it is aborted. */
  readonly closing?: AbortSignal;
  /** When the attempt ends, on the clock of `performance.now()`. */
  readonly end?: number;
}

/**
 * Connects to the first host that accepts writes.
 *
 * @param time how long a step of the attempt may take for each host, in milliseconds.
 * @throws {DatabaseClosedError} if `closing` is aborted.
 * @throws the error of the last host that was tried.
 */
export async function connect(
  settings: EngineSettings,
  time: number,
  { closing, end: lastMoment = Number.POSITIVE_INFINITY }: ConnectLimits = {},
): Promise<pg.Client> {
  let failure: unknown;
  const timeLeft = () => Math.max(1, Math.min(time, lastMoment - performance.now()));
  for (const connectionString of settings.hosts) {
    if (closing?.aborted) throw new DatabaseClosedError();
    // The attempts of the hosts before this one have taken all of the time.
    if (failure !== undefined && performance.now() >= lastMoment) break;
    const client = new Client({
      connectionString,
      ...(settings.ssl === false ? {} : { ssl: settings.ssl }),
      connectionTimeoutMillis: timeLeft(),
      query_timeout: time,
      keepAlive: true,
      application_name: "keywright",
    });
    // A connection that fails while it is idle reports it here. The next query fails too.
    client.on("error", () => undefined);
    const abandon = () => destroy(client);
    closing?.addEventListener("abort", abandon);
    try {
      await client.connect();
      const query = (text: string) =>
        client.query({ text, query_timeout: timeLeft() } as { text: string });
      await query(
        `SET default_transaction_isolation = 'read committed'; SET client_min_messages = 'warning'; SET statement_timeout = ${settings.deadline}`,
      );
      const { rows } = await query(prepareSession);
      if (!rows[0].read_only) return client;
      failure = new ReadOnlyServerError("the server is a standby or read-only");
    } catch (error) {
      // A wrong password matters more than the next host that does not answer.
      if (refusalOf(failure) === undefined || isAnswer(error)) failure = error;
    } finally {
      closing?.removeEventListener("abort", abandon);
    }
    end(client);
  }
  throw closing?.aborted ? new DatabaseClosedError() : failure;
}

/** What `pg` has and its types do not. */
interface UntypedClient {
  readonly connection: { readonly stream: { destroy(): void } };
  ref(): void;
  unref(): void;
}

/** Closes a connection without waiting for what it does. */
export function end(client: pg.Client): void {
  client.end().catch(() => undefined);
  // A server that has stopped would not answer the message that ends a session.
  destroy(client);
}

/** Closes the socket of a connection. What waits for it fails. */
function destroy(client: pg.Client): void {
  (client as unknown as UntypedClient).connection.stream.destroy();
}

/** Determines if an open connection keeps the process alive. */
export function keepAlive(client: pg.Client, isNeeded: boolean): void {
  const untyped = client as unknown as UntypedClient;
  if (isNeeded) untyped.ref();
  else untyped.unref();
}
