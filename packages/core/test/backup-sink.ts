import type { BackupSink } from "../src/backup.js";

/** A sink in memory. */
export class MemorySink implements BackupSink {
  readonly objects = new Map<string, Uint8Array>();
  /** How many objects can still be put before all further calls fail, as after a crash. */
  putsLeft = Number.POSITIVE_INFINITY;

  async put(name: string, bytes: Uint8Array): Promise<void> {
    if (this.putsLeft-- <= 0) throw new Error("the program was killed");
    this.objects.set(name, new Uint8Array(bytes));
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return this.objects.get(name);
  }

  async list(prefix: string): Promise<readonly string[]> {
    return [...this.objects.keys()].filter((name) => name.startsWith(prefix));
  }

  async delete(name: string): Promise<void> {
    this.objects.delete(name);
  }

  /** Returns the names of objects that contain a text, in their order. */
  named(text: string): string[] {
    return [...this.objects.keys()].filter((name) => name.includes(text)).sort();
  }
}
