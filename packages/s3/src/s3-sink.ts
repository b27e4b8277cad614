import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import { InvalidOptionError } from "@keywright/core";
import type { BackupSink } from "@keywright/core/backup";
import { S3RequestError } from "./errors/s3-error.js";

/** How often a request is made, and an answer whose bytes do not arrive completely is asked for. */
const mostAttempts = 5;
/** In milliseconds. */
const defaultTimeout = 60_000;

/** Where objects of backups are kept. */
export interface S3SinkOptions {
  readonly bucket: string;
  /** What the keys of all objects begin with, without a slash at the end. None by default. */
  readonly prefix?: string | undefined;
  /** The default is that of the environment: `AWS_REGION`, or the shared configuration. */
  readonly region?: string | undefined;
  /**
   * The URL of a storage other than that of Amazon. The default is `AWS_ENDPOINT_URL_S3` or
   * `AWS_ENDPOINT_URL` of the environment.
   */
  readonly endpoint?: string | undefined;
  /** True if the bucket is in the path of URLs. The default is true if there is an endpoint. */
  readonly forcePathStyle?: boolean | undefined;
  /**
   * Milliseconds after which a connection on which nothing moves is given up, and the request is
   * repeated. The default is 60,000.
   */
  readonly timeout?: number | undefined;
  /**
   * A client with settings of your own, such as credentials. By default, a client finds the
   * credentials as all clients of Amazon do: in the environment, in shared files, or on the
   * machine.
   */
  readonly client?: S3Client | undefined;
}

/** A sink in a bucket. */
export interface S3Sink extends BackupSink {
  /** Closes the connections, unless the client was given. */
  close(): void;
}

/**
 * Returns a sink that keeps each object of a backup under a key of a bucket, on Amazon S3 or on a
 * storage with the same interface. Requests that fail for a while are repeated.
 *
 * ```ts
 * await backup(kv, s3Sink({ bucket: "backups", prefix: "app" }));
 * ```
 *
 * @throws {InvalidOptionError} if the name of the bucket or another option is not valid.
 */
export function s3Sink(options: S3SinkOptions): S3Sink {
  const { bucket, prefix = "", client = newClient(options) } = options;
  if (typeof bucket !== "string" || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new InvalidOptionError("bucket", "must be the name of a bucket", "s3Sink");
  if (typeof prefix !== "string" || /^\/|\/$|\/\/|[?#]/.test(prefix))
    throw new InvalidOptionError("prefix", "must be a path without a slash at its ends", "s3Sink");
  const start = prefix === "" ? "" : `${prefix}/`;
  const run = async <T>(
    operation: S3RequestError["operation"],
    name: string,
    request: (key: string) => Promise<T>,
  ): Promise<T> => {
    const object = `${start}${name}`;
    try {
      return await request(object);
    } catch (error) {
      throw new S3RequestError(operation, { bucket, object }, error);
    }
  };
  return {
    async put(name, bytes) {
      await run("put", name, async (Key) => {
        await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: bytes }));
      });
    },
    async get(name) {
      return await run("get", name, async (Key) => {
        for (let attempt = 1; ; attempt++) {
          const Body = await bodyOf(client, bucket, Key);
          if (Body === undefined) return undefined;
          try {
            return await Body.transformToByteArray();
          } catch (error) {
            // The client repeats requests, but not answers that end too early.
            if (attempt === mostAttempts) throw error;
          }
        }
      });
    },
    async list(name) {
      return await run("list", name, async (Prefix) => {
        const names: string[] = [];
        for await (const { Contents = [] } of paginateListObjectsV2(
          { client },
          { Bucket: bucket, Prefix },
        ))
          for (const { Key = "" } of Contents) names.push(Key.slice(start.length));
        return names;
      });
    },
    async delete(name) {
      await run("delete", name, async (Key) => {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
      });
    },
    close() {
      if (options.client === undefined) client.destroy();
    },
  };
}

async function bodyOf(client: S3Client, bucket: string, key: string) {
  try {
    return (await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }))).Body;
  } catch (error) {
    if ((error as { name?: unknown }).name === "NoSuchKey") return undefined;
    throw error;
  }
}

function newClient(options: S3SinkOptions): S3Client {
  const { region, endpoint, forcePathStyle, timeout = defaultTimeout } = options;
  if (!(Number.isFinite(timeout) && timeout > 0 && timeout < 2 ** 31))
    throw new InvalidOptionError("timeout", "must be a number of milliseconds above 0", "s3Sink");
  if (endpoint !== undefined && !URL.canParse(endpoint))
    throw new InvalidOptionError("endpoint", "must be a URL", "s3Sink");
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 = AWS_ENDPOINT_URL } = process.env;
  const hasEndpoint = endpoint !== undefined || AWS_ENDPOINT_URL_S3 !== undefined;
  return new S3Client({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle: forcePathStyle ?? hasEndpoint,
    maxAttempts: mostAttempts,
    // By default, the client waits forever for a machine that has gone.
    requestHandler: { connectionTimeout: timeout, socketTimeout: timeout },
    // Each object has a checksum of its own, and other storages do not know those of Amazon.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}
