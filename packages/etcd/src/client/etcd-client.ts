import { type ClientDuplexStream, Metadata, type ServiceError } from "@grpc/grpc-js";
import { Attempts } from "./attempts.js";
import { CallFailure } from "./call-failure.js";
import { Endpoint, type EtcdTlsOptions } from "./endpoint.js";
import type { EtcdCalls, ResponseHeader, WatchRequest, WatchResponse } from "./etcd-messages.js";
import { typedFailure, unavailable } from "./typed-failure.js";

export interface EtcdClientOptions {
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTlsOptions | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** The longest time that a call waits for etcd, in milliseconds. */
  readonly timeout: number;
}

/** Milliseconds after which a call that is made once is abandoned. */
const singleTime = 2000;

/**
 * The calls of etcd that the engine uses, on several endpoints. All calls use the same endpoint
 * until one fails, and then the next endpoint.
 */
export class EtcdClient {
  readonly timeout: number;
  readonly #endpoints: readonly Endpoint[];
  readonly #options: EtcdClientOptions;
  readonly #onRotate = new Set<() => void>();
  #current = 0;
  #lastRevision = 0;
  #token: Promise<string> | undefined;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    this.timeout = options.timeout;
    this.#endpoints = options.endpoints.map((url) => new Endpoint(url, options.tls));
  }

  get endpoints(): readonly string[] {
    return this.#options.endpoints;
  }

  /** The highest revision that a response has had. */
  get lastRevision(): number {
    return this.#lastRevision;
  }

  /** Begins the attempts of a call, until the timeout of the client. */
  attempts(): Attempts {
    return new Attempts(this.timeout, this.#endpoints.length);
  }

  /**
   * Makes a call that can be repeated without harm, on one endpoint after the other until the
   * timeout of the client.
   *
   * @throws {EngineUnavailableError} if no endpoint has answered in time.
   */
  async read<Name extends keyof EtcdCalls>(
    name: Name,
    request: EtcdCalls[Name][0],
  ): Promise<EtcdCalls[Name][1]> {
    const attempts = this.attempts();
    for (;;) {
      try {
        return await this.attempt(name, request, attempts.time);
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        if (error.kind === "refused") throw typedFailure(error);
        if (!(await attempts.pauseAfter(error))) throw unavailable(this.endpoints, error);
      }
    }
  }

  /**
   * Makes a call once. After a failure that may be the endpoint's, the next call uses the next
   * endpoint.
   *
   * @throws {CallFailure} if the call fails.
   */
  async attempt<Name extends keyof EtcdCalls>(
    name: Name,
    request: EtcdCalls[Name][0],
    time: number,
  ): Promise<EtcdCalls[Name][1]> {
    const index = this.#current;
    const endpoint = this.#endpoints[index]!;
    try {
      const response = await this.#authenticated((metadata) =>
        endpoint.call(name, request, metadata, time),
      );
      const { header } = response as { header?: ResponseHeader };
      this.#lastRevision = Math.max(this.#lastRevision, header?.revision ?? 0);
      return response;
    } catch (error) {
      if (error instanceof CallFailure && error.kind !== "refused") this.#rotate(index);
      throw error;
    }
  }

  /** Returns the outcome of a call to each endpoint: its response, or the failure. */
  async ofAll<Name extends keyof EtcdCalls>(
    name: Name,
    request: EtcdCalls[Name][0],
  ): Promise<{ readonly endpoint: string; readonly outcome: EtcdCalls[Name][1] | Error }[]> {
    const time = Math.min(this.timeout, singleTime);
    return await Promise.all(
      this.#endpoints.map(async (endpoint) => {
        const call = this.#authenticated((metadata) =>
          endpoint.call(name, request, metadata, time),
        );
        return { endpoint: endpoint.url, outcome: await call.catch((error: Error) => error) };
      }),
    );
  }

  /**
   * Opens a stream of changes on the current endpoint. `onRotate` is called when that endpoint has
   * failed another call.
   */
  async watch(
    onRotate: () => void,
  ): Promise<{ stream: ClientDuplexStream<WatchRequest, WatchResponse>; end(): void }> {
    const metadata = await this.#metadata();
    const stream = this.#endpoints[this.#current]!.watch(metadata);
    this.#onRotate.add(onRotate);
    const end = () => {
      this.#onRotate.delete(onRotate);
      stream.cancel();
    };
    return { stream, end };
  }

  /** Makes the next calls use the next endpoint, because the current one serves no stream. */
  leaveEndpoint(): void {
    this.#rotate(this.#current);
  }

  close(): void {
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  #rotate(from: number): void {
    if (this.#current !== from) return;
    this.#current = (from + 1) % this.#endpoints.length;
    for (const onRotate of [...this.#onRotate]) onRotate();
  }

  /** Makes a call, and repeats it once with a new token if the token is no longer valid. */
  async #authenticated<T>(call: (metadata: Metadata) => Promise<T>): Promise<T> {
    try {
      return await call(await this.#metadata());
    } catch (error) {
      const isLogin = error instanceof CallFailure && error.needsLogin;
      if (!isLogin || this.#options.user === undefined) throw error;
      this.#token = undefined;
      return await call(await this.#metadata());
    }
  }

  async #metadata(): Promise<Metadata> {
    const metadata = new Metadata();
    // A member without a leader then refuses at once, and the call goes to another member.
    metadata.set("hasleader", "true");
    const { user: name, password = "" } = this.#options;
    if (name === undefined) return metadata;
    if (this.#token === undefined) {
      const token = this.#login({ name, password });
      this.#token = token;
      token.catch(() => {
        if (this.#token === token) this.#token = undefined;
      });
    }
    metadata.set("token", await this.#token);
    return metadata;
  }

  async #login(request: { name: string; password: string }): Promise<string> {
    const index = this.#current;
    const endpoint = this.#endpoints[index]!;
    try {
      const response = await endpoint.call(
        "Auth.Authenticate",
        request,
        new Metadata(),
        singleTime,
      );
      return response.token;
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      if (error.kind === "refused") throw typedFailure(error);
      this.#rotate(index);
      // The call that needs the token has not been made.
      throw new CallFailure(error.endpoint, error.cause as ServiceError, "not-sent");
    }
  }
}
