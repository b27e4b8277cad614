/** A TCP proxy that can stop forwarding while its connections stay open. */
export class Gate {
  readonly port: number;
  /** The number of open connections. */
  readonly connections: number;
  /** Starts a gate in front of a port of this machine. */
  static start(port: number): Promise<Gate>;
  /** Stops forwarding for connections of which `isCut` is true; of all without it. */
  cut(isCut?: (member: string | undefined) => boolean): void;
  open(): void;
  stop(): Promise<void>;
}
