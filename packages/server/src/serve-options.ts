import type { TlsOptions } from "./http/listen.js";
import type { TimeLimits } from "./http/time-limits.js";
import type { Token } from "./http/tokens.js";

/** How `serve` listens, and to whom it answers. */
export interface ServeOptions {
  /** The port. The default is 4512. Zero takes any that is free. */
  readonly port?: number | undefined;
  /** The address. The default, `127.0.0.1`, accepts connections of the same machine only. */
  readonly host?: string | undefined;
  /** The path of the URL that clients open. The default is `/`. */
  readonly path?: string | undefined;
  /** The tokens that clients must have. Each has at least 16 characters. */
  readonly tokens: readonly Token[];
  /** Needed on a network: without TLS, anyone between can read tokens and data. */
  readonly tls?: TlsOptions | undefined;
  /**
   * The names by which clients call the server. The default is those of the machine itself if
   * `host` is such a name, and any name otherwise.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * The URL that clients open, if it is that of a proxy. Its host name is one of `hosts`. Clients
   * of version 1 of KV Connect need it then. Later versions do not.
   */
  readonly publicUrl?: string | undefined;
  /** The origins of web pages that may call the server. The default is none. */
  readonly origins?: readonly string[] | undefined;
  /** The most bytes of a request. The default is 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * The most bytes of requests that the server holds at a time, and of answers that clients have
   * not read. Further requests wait. The default is 256 MiB.
   */
  readonly maxBufferedBytes?: number | undefined;
  /** The most connections at a time. The default is 10,000. */
  readonly maxConnections?: number | undefined;
  /** How long clients may take. Without a field, its default holds. */
  readonly timeLimits?: Partial<TimeLimits> | undefined;
  /** True to answer `/metrics` in the format of Prometheus. It needs a token too. */
  readonly metrics?: boolean | undefined;
}
