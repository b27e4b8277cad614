import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy in front of a member. It can lose the replies of the member. */
export class LossyProxy {
  readonly endpoint: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #passedReplies = 0;
  #lostReplies = 0;
  #isSilent = false;
  #isDown = false;

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string): Promise<LossyProxy> {
    const { hostname, port } = new URL(target);
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      if (proxy.#isDown) {
        client.destroy();
        return;
      }
      const member = connect(Number(port), hostname);
      for (const socket of [client, member]) {
        sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          sockets.delete(socket);
          client.destroy();
          member.destroy();
        });
      }
      client.on("data", (data) => member.write(data));
      member.on("data", (data) => {
        if (proxy.#isSilent) return;
        // Long replies are those of calls. Short ones are acknowledgements of the connection.
        if (data.length > 60 && proxy.#isNextLost()) client.destroy();
        else client.write(data);
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxy = new LossyProxy(server, sockets);
    return proxy;
  }

  /** Passes on some replies, and cuts the connection in place of each of the next ones. */
  loseReplies(count: number, passed = 0): void {
    this.#passedReplies = passed;
    this.#lostReplies = count;
  }

  /** True if all replies that were to be lost have been lost. */
  get hasLost(): boolean {
    return this.#lostReplies === 0;
  }

  /** Passes on requests and no replies, until it is called with false. */
  beSilent(isSilent: boolean): void {
    this.#isSilent = isSilent;
    if (!isSilent) this.disconnect();
  }

  #isNextLost(): boolean {
    if (this.#passedReplies > 0) {
      this.#passedReplies--;
      return false;
    }
    if (this.#lostReplies === 0) return false;
    this.#lostReplies--;
    return true;
  }

  /** Cuts all connections. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts all connections and refuses new ones, until it is called with false. */
  beDown(isDown: boolean): void {
    this.#isDown = isDown;
    if (isDown) this.disconnect();
  }

  async stop(): Promise<void> {
    this.disconnect();
    this.#server.close();
    await once(this.#server, "close");
  }
}
