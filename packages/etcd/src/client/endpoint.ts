import { Buffer } from "node:buffer";
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  connectivityState,
  credentials,
  type Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { CallFailure } from "./call-failure.js";
import type { EtcdCalls, WatchRequest, WatchResponse } from "./etcd-messages.js";
import { methodOf, watchMethod } from "./etcd-protocol.js";

/** Certificates in PEM format. Without `ca`, the certificates of Node.js are trusted. */
export interface EtcdTlsOptions {
  readonly ca?: string | Buffer | undefined;
  /** The certificate of the client, if etcd asks for one. It needs `key`. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/**
 * Milliseconds after which a new connection is begun if the one that is being made has no answer.
 * The client library waits for as long as TCP does: more than two minutes, or for ever if the
 * member has accepted the connection before the network was cut.
 */
const longestConnecting = 5000;

/** The connection to one member. It is made when it is needed. */
export class Endpoint {
  readonly url: string;
  readonly #tls: EtcdTlsOptions | undefined;
  #client: Client;
  /** When a call failed while the connection was being made, in milliseconds. */
  #connectingSince: number | undefined;

  constructor(url: string, tls: EtcdTlsOptions | undefined) {
    this.url = url;
    this.#tls = tls;
    this.#client = connect(url, tls);
  }

  /** @throws {CallFailure} if the call fails. */
  call<Name extends keyof EtcdCalls>(
    name: Name,
    request: EtcdCalls[Name][0],
    metadata: Metadata,
    time: number,
  ): Promise<EtcdCalls[Name][1]> {
    const method = methodOf<EtcdCalls[Name][0], EtcdCalls[Name][1]>(name);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        { deadline: Date.now() + time },
        (error: ServiceError | null, response) => {
          if (error === null) {
            this.#connectingSince = undefined;
            resolve(response!);
          } else {
            this.#reconnectIfStuck();
            reject(new CallFailure(this.url, error));
          }
        },
      );
    });
  }

  watch(metadata: Metadata): ClientDuplexStream<WatchRequest, WatchResponse> {
    const { path, requestSerialize, responseDeserialize } = watchMethod();
    return this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
    );
  }

  /**
   * Closes the connection after the calls that it still has. A connection that a member has
   * accepted, and not answered on yet, closes as soon as the member answers.
   */
  close(): void {
    this.#client.close();
  }

  #reconnectIfStuck(): void {
    const state = this.#client.getChannel().getConnectivityState(false);
    if (state !== connectivityState.CONNECTING) {
      this.#connectingSince = undefined;
      return;
    }
    const now = performance.now();
    this.#connectingSince ??= now;
    if (now - this.#connectingSince < longestConnecting) return;
    this.#connectingSince = undefined;
    const stuck = this.#client;
    this.#client = connect(this.url, this.#tls);
    stuck.close();
  }
}

function connect(url: string, tls: EtcdTlsOptions | undefined): Client {
  const { host, protocol } = new URL(url);
  const isTls = protocol === "https:";
  return new Client(host, isTls ? secure(tls ?? {}) : credentials.createInsecure(), {
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 3000,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1000,
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    // The engine decides which calls are repeated.
    "grpc.enable_retries": 0,
    "grpc.enable_http_proxy": 0,
    // A new connection is not the one that is still being made.
    "grpc.use_local_subchannel_pool": 1,
  });
}

function secure({ ca, cert, key }: EtcdTlsOptions): ChannelCredentials {
  const bytes = (pem: string | Buffer | undefined) => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(ca), bytes(key), bytes(cert));
}
