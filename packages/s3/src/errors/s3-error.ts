import { KeywrightError } from "@keywright/core";

/** A request to the storage that has failed, also after it was repeated. */
export class S3RequestError extends KeywrightError {
  /** The request: `put`, `get`, `list` or `delete`. */
  readonly operation: "put" | "get" | "list" | "delete";
  readonly bucket: string;
  /** The key of the object in the bucket, or the prefix of a list. */
  readonly object: string;
  /** The status of the answer. Undefined if there was none. */
  readonly status: number | undefined;

  constructor(
    operation: S3RequestError["operation"],
    { bucket, object }: { readonly bucket: string; readonly object: string },
    cause: unknown,
  ) {
    const { name, message, status } = describe(cause);
    const remedy =
      status === 403 || name.startsWith("Credentials")
        ? "Check the credentials and their permissions: s3:PutObject, s3:GetObject, s3:ListBucket and s3:DeleteObject."
        : "Check the name of the bucket, its region and the endpoint, then repeat the call.";
    const text = `S3: ${operation} of ${object} in the bucket ${bucket} failed: ${name}: ${message} ${remedy}`;
    const retryable = status === undefined || status === 429 || status >= 500;
    super("KW_S3_REQUEST_FAILED", text, { cause: withoutRequest(cause), retryable });
    this.operation = operation;
    this.bucket = bucket;
    this.object = object;
    this.status = status;
  }
}

function describe(cause: unknown): { name: string; message: string; status: number | undefined } {
  if (!(cause instanceof Error))
    return { name: "Error", message: String(cause), status: undefined };
  const { $metadata } = cause as { $metadata?: { httpStatusCode?: number } };
  const message = /[.!?]$/.test(cause.message) ? cause.message : `${cause.message}.`;
  return { name: cause.name, message, status: $metadata?.httpStatusCode };
}

/** The errors of the client have the request, with the id of the key and its signature. */
function withoutRequest(cause: unknown): Error {
  const { name, message } = describe(cause);
  const error = new Error(message);
  error.name = name;
  return error;
}
