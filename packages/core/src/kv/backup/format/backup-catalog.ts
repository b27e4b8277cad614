import { createHash, randomBytes } from "node:crypto";
import type { StoredEntry } from "../../../engine/engine.js";
import type { DatabaseMode } from "../../../engine/level/database-header.js";
import { BackupFormatError } from "../../../errors/backup-errors.js";
import type { BackupSink } from "../backup-sink.js";
import { type BackupKey, decodeObject } from "./backup-object.js";

/** An object of entries, as the manifest of a full backup names it. */
export interface ChunkSummary {
  readonly entries: number;
  /** Its SHA-256 in hexadecimal digits. */
  readonly checksum: string;
}

/** What a full backup says of itself. It is written after all its chunks. */
export interface FullManifest {
  readonly mode: DatabaseMode;
  /** When the state was read, in milliseconds since the epoch. */
  readonly time: number;
  /** The versionstamp of the last commit of the state that has written an entry, or a later one. */
  readonly versionstamp: string;
  /** The log of the database, if it had one. */
  readonly log: string | null;
  /** The versionstamp of the last commit of the log that the state contains. */
  readonly position: string | null;
  /** The checksum of this commit, as {@link recordChecksum} returns it. Absent in older backups. */
  readonly positionChecksum?: string | undefined;
  readonly entries: number;
  readonly messages: number;
  /** Bytes of the entries and messages before compression. */
  readonly bytes: number;
  readonly chunks: readonly ChunkSummary[];
}

/** What an object of commits says of itself. */
export interface LogHeader {
  readonly log: string;
  /** The object has all commits after this versionstamp, up to that of {@link upTo}. */
  readonly after: string;
  readonly upTo: string;
  /** The checksum of the commit {@link upTo}. Absent in older backups, and if it is not known. */
  readonly checksum?: string | undefined;
  /** When the log was read, in milliseconds since the epoch. */
  readonly until: number;
  readonly commits: number;
}

/** A full backup and the commits that were added to it. */
export interface Generation {
  readonly name: string;
  /** Of the objects of commits, in the order of the commits. */
  readonly logs: readonly string[];
}

/** The backups of a sink, the oldest first. */
export interface BackupCatalog {
  readonly generations: readonly Generation[];
  /** Full backups without a manifest: they were interrupted, or are being made. */
  readonly unfinished: readonly string[];
  /** The names of all objects. */
  readonly objects: readonly string[];
}

const namePattern =
  /^(\d{8}-[0-9a-f]{8})(\.full|\/log-([0-9a-f]{20})-([0-9a-f]{20})-[0-9a-f]{8}|\/\d{8}\.chunk|\/head|\/claim)$/;

/** Lists the backups of a sink whose names begin with a prefix. Objects of others are ignored. */
export async function readCatalog(sink: BackupSink, prefix = ""): Promise<BackupCatalog> {
  const objects = [...(await sink.list(prefix))].filter((name) => namePattern.test(name)).sort();
  const names = new Set(objects.map((name) => namePattern.exec(name)![1]!));
  const full = new Set(objects.filter((name) => name.endsWith(".full")));
  const finished = [...names].filter((name) => full.has(manifestName(name)));
  const logsOf = (name: string) => objects.filter((each) => each.startsWith(`${name}/log-`));
  return {
    generations: finished.map((name) => ({ name, logs: logsOf(name) })),
    unfinished: [...names].filter((name) => !full.has(manifestName(name))),
    objects,
  };
}

/** Returns a name that sorts after those of all backups of the catalog. */
export function nextGeneration({ generations, unfinished }: BackupCatalog): string {
  const names = [...generations.map(({ name }) => name), ...unfinished];
  const last = Math.max(0, ...names.map(numberOf));
  return `${textOfNumber(last + 1)}${randomBytes(4).toString("hex")}`;
}

/** True if the sink has objects of the full backup that is made after another one. */
export async function hasNext(sink: BackupSink, generation: string): Promise<boolean> {
  return (await sink.list(textOfNumber(numberOf(generation) + 1))).length > 0;
}

/** True if another full backup of the sink has the same number. */
export async function hasSameNumber(sink: BackupSink, generation: string): Promise<boolean> {
  const { generations, unfinished } = await readCatalog(sink, textOfNumber(numberOf(generation)));
  const names = [...generations.map(({ name }) => name), ...unfinished];
  return names.some((name) => name !== generation);
}

function numberOf(generation: string): number {
  return Number.parseInt(generation, 10);
}

function textOfNumber(generation: number): string {
  return `${String(generation).padStart(8, "0")}-`;
}

export function manifestName(generation: string): string {
  return `${generation}.full`;
}

export function chunkName(generation: string, index: number): string {
  return `${generation}/${String(index).padStart(8, "0")}.chunk`;
}

/**
 * The name of the object that has the versionstamp of the last commit of a backup. Without it, a
 * missing last object of commits would go unnoticed.
 */
export function headName(generation: string): string {
  return `${generation}/head`;
}

/** The name of an object that exists until a full backup has its manifest. */
export function claimName(generation: string): string {
  return `${generation}/claim`;
}

/** True if the object is a claim, which has no bytes. */
export function isClaim(name: string): boolean {
  return name.endsWith("/claim");
}

/** The name of an object that exists while an interrupted backup is removed. */
export function removalName(generation: string): string {
  return `${generation}/removed`;
}

/**
 * Returns the name of a new object of the commits after a versionstamp, up to another one. Names
 * sort by `upTo` and then by `after`, so an object comes after the one that it continues, also if
 * it has no commits. Two programs that add the same commits do not replace each other's objects.
 */
export function newLogName(
  generation: string,
  { after, upTo }: Pick<LogHeader, "after" | "upTo">,
): string {
  return `${generation}/log-${upTo}-${after}-${randomBytes(4).toString("hex")}`;
}

/** Returns the versionstamp of the last commit of an object of commits. */
export function upToOf(logName: string): string {
  return namePattern.exec(logName)![3]!;
}

/** Returns the versionstamp after which the commits of an object follow. */
export function afterOf(logName: string): string {
  return namePattern.exec(logName)![4]!;
}

/**
 * Takes the object that continues a backup out of a list of names, which has the order of
 * {@link newLogName}. Objects that have no further commits are taken out too: others have the same
 * ones, such as a merged object while those in its place are being removed.
 *
 * @param last the last commit that the objects before have.
 * @returns undefined if no object continues there. Those that are left begin later.
 */
export function takeNextLog(names: string[], last: string): string | undefined {
  const rest = names.filter((name) => upToOf(name) >= last);
  const index = rest.findIndex((name) => afterOf(name) <= last);
  const [next] = index === -1 ? [] : rest.splice(index, 1);
  names.splice(0, names.length, ...rest);
  return next;
}

/** A manifest as it is read from a sink. */
export interface StoredManifest extends FullManifest {
  readonly isEncrypted: boolean;
}

/** @throws {BackupDamagedError} if the manifest is damaged. */
export async function readManifest(
  sink: BackupSink,
  generation: string,
  key: BackupKey | undefined,
): Promise<StoredManifest> {
  const name = manifestName(generation);
  const lost = "the list of what the full backup has";
  const { header, body } = decodeObject(name, await sink.get(name), key, lost);
  if (header.kind !== "full") throw new BackupFormatError(name, "is no manifest");
  const manifest = JSON.parse((await body()).toString()) as FullManifest;
  return { ...manifest, isEncrypted: header.key !== undefined };
}

/**
 * Returns a checksum of the record of a commit. It distinguishes commits that have the same
 * versionstamp.
 */
export function recordChecksum({ value }: Pick<StoredEntry, "value">): string {
  return createHash("sha256").update(value).digest("hex");
}

/** @throws {BackupDamagedError} if the object of commits is damaged. */
export async function readLogHeader(
  sink: BackupSink,
  name: string,
  key: BackupKey | undefined,
): Promise<LogHeader> {
  const lost = `the commits up to ${upToOf(name)}`;
  return decodeObject(name, await sink.get(name), key, lost).header as unknown as LogHeader;
}
