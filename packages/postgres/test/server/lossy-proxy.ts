import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What becomes of a commit: its reply is lost after the server has applied it, its request is lost
 * before the server has it, or its request is held back until `deliver`.
 */
export type Loss = "reply" | "request" | "late request";

/** Bytes that only the request of a commit contains: the name of its statement, with its end. */
const commitName = "_commit\0";
/** The message `Sync`. */
const endOfRequest = Buffer.of(0x53, 0, 0, 0, 4);

/** A TCP proxy in front of a PostgreSQL server. It can lose commits on their way, or replies. */
export class LossyProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #held: { readonly member: Socket; readonly data: Buffer }[] = [];
  #losses: Loss[] = [];
  #onLoss: () => Promise<void> = async () => undefined;
  #isSilent = false;

  private constructor(server: Server, sockets: Set<Socket>, target: string) {
    this.#server = server;
    this.#sockets = sockets;
    const url = new URL(target);
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
  }

  static async start(target: string): Promise<LossyProxy> {
    const { hostname, port } = new URL(target);
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      proxy.#link(client, connect(Number(port), hostname));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxy = new LossyProxy(server, sockets, target);
    return proxy;
  }

  /**
   * Loses the next commits in these ways, and cuts the connection each time.
   *
   * @param onLoss ends before the connection is cut.
   */
  lose(losses: readonly Loss[], onLoss: () => Promise<void> = async () => undefined): void {
    this.#losses = [...losses];
    this.#onLoss = onLoss;
  }

  /** True if all that was to be lost has been lost. */
  get hasLost(): boolean {
    return this.#losses.length === 0;
  }

  /** Sends the requests that were held back, and resolves when the server has answered them. */
  async deliver(): Promise<void> {
    for (const { member, data } of this.#held.splice(0)) {
      const answered = once(member, "data");
      member.write(data);
      await answered;
      member.destroy();
    }
  }

  /** Passes on requests and no replies, until it is called with false. */
  beSilent(isSilent: boolean): void {
    this.#isSilent = isSilent;
    if (!isSilent) for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #link(client: Socket, member: Socket): void {
    /** The outcome of the commit that this connection has sent. */
    let loss: Loss | undefined;
    let request = Buffer.alloc(0);
    const cut = async () => {
      await this.#onLoss();
      client.destroy();
    };
    for (const socket of [client, member]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        if (loss !== "late request") member.destroy();
      });
    }
    client.on("data", (data) => {
      if (data.includes(commitName)) loss ??= this.#losses.shift();
      if (loss === undefined || loss === "reply") {
        member.write(data);
        return;
      }
      request = Buffer.concat([request, data]);
      if (!request.subarray(-endOfRequest.length).equals(endOfRequest)) return;
      if (loss === "late request") this.#held.push({ member, data: request });
      void cut();
    });
    member.on("data", (data) => {
      if (loss === "reply") void cut();
      else if (!this.#isSilent) client.write(data);
    });
  }
}
