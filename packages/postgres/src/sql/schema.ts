import { operation, refused } from "./operations.js";

/** Milliseconds for which the outcomes and the changed keys of a batch are kept. */
const retention = 10 * 60_000;
/** One of so many batches removes old ones. */
const sweepInterval = 64;
/** The maximum number of old batches that are removed at once. */
const sweepSize = 1000;

/** Milliseconds since the epoch, by the clock of the server. */
export const serverTime = "(extract(epoch FROM clock_timestamp()) * 1000)::int8";

/** The signature has the version of the body, so that programs of several versions can coexist. */
export function commitFunction(prefix: string): string {
  return `${prefix}_commit_1`;
}

export function channelOf(prefix: string): string {
  return `${prefix}_commits`;
}

export function createTable(prefix: string): string {
  return `
    CREATE TABLE IF NOT EXISTS ${prefix} (
      key bytea PRIMARY KEY,
      value bytea NOT NULL,
      version bytea NOT NULL,
      expires_at int8
    )`;
}

const absent = "expires_at IS NOT NULL AND expires_at <= v_now";

/** Returns a `KvU64` (format byte 3, then 8 bytes, little-endian) as a numeric, as SQL. */
function numberOf(bytes: string): string {
  const digits = Array.from(
    { length: 8 },
    (_, i) => `get_byte(${bytes}, ${i + 1})::numeric * ${256n ** BigInt(i)}`,
  );
  return `(${digits.join(" + ")})`;
}

/** Returns a numeric as a `KvU64`, as SQL. */
function u64Of(number: string): string {
  const bytes = Array.from({ length: 8 }, (_, i) => {
    const shifted = i === 0 ? number : `div(${number}, ${256n ** BigInt(i)})`;
    return `lpad(to_hex(mod(${shifted}, 256)::int4), 2, '0')`;
  });
  return `decode('03' || ${bytes.join(" || ")}, 'hex')`;
}

/**
 * Returns the statement that creates the function of commits. It applies a batch of atomic writes
 * one after another, as one transaction. It first locks the head row, so batches have an order, and
 * each statement after the lock sees all earlier batches.
 *
 * It returns the number of the batch, a colon, and the outcome of each write, separated by commas.
 * If a batch with this id was applied before, it changes nothing and returns the first answer.
 */
export function createCommitFunction(prefix: string): string {
  const op = operation;
  return `
CREATE OR REPLACE FUNCTION ${commitFunction(prefix)}(
  p_id bytea, p_ops int4[], p_keys bytea[], p_values bytea[], p_times int8[]
) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
  v_head bytea;
  v_sequence int8;
  v_sequence_hex text;
  v_now int8;
  v_stamp bytea;
  v_known bytea;
  v_applied int4 := 0;
  v_index int4 := 0;
  v_outcome int4;
  v_outcomes int4[] := '{}';
  v_skip boolean := true;
  v_checking boolean := true;
  v_changed bytea[] := '{}';
  v_key bytea;
  v_value bytea;
  v_version bytea;
  v_expires int8;
  v_number numeric;
  v_result text;
  r record;
BEGIN
  SELECT version INTO v_head FROM ${prefix} WHERE key = '\\x0000' FOR UPDATE;
  SELECT value INTO v_known FROM ${prefix} WHERE key = '\\x0001'::bytea || p_id;
  IF v_known IS NOT NULL THEN
    RETURN convert_from(v_known, 'UTF8');
  END IF;
  v_sequence := ('x' || encode(substr(v_head, 1, 8), 'hex'))::bit(64)::int8 + 1;
  v_sequence_hex := lpad(to_hex(v_sequence), 16, '0');
  v_now := ${serverTime};
  FOR r IN SELECT * FROM unnest(p_ops, p_keys, p_values, p_times) AS u(op, key, value, time) LOOP
    v_index := v_index + 1;
    IF r.op = ${op.begin} THEN
      IF v_index > 1 THEN
        v_outcomes := array_append(v_outcomes, v_outcome);
      END IF;
      v_skip := false;
      v_checking := true;
      v_outcome := ${refused};
    ELSIF v_skip THEN
      CONTINUE;
    ELSIF r.op = ${op.check} THEN
      SELECT version INTO v_version FROM ${prefix}
        WHERE key = r.key AND NOT (${absent});
      v_skip := v_version IS DISTINCT FROM r.value;
    ELSIF r.op = ${op.checkU64} THEN
      SELECT value INTO v_value FROM ${prefix}
        WHERE key = r.key AND NOT (${absent});
      IF FOUND AND NOT (length(v_value) = 9 AND get_byte(v_value, 0) = 3) THEN
        v_skip := true;
        v_outcome := ${refused} - v_index;
      END IF;
    ELSIF r.op = ${op.fail} THEN
      v_skip := true;
      v_outcome := ${refused} - v_index;
    ELSE
      IF v_checking THEN
        v_checking := false;
        v_outcome := v_applied;
        v_stamp := decode(v_sequence_hex || lpad(to_hex(v_applied), 4, '0'), 'hex');
        v_applied := v_applied + 1;
      END IF;
      v_key := r.key;
      IF r.op = ${op.set} OR r.op = ${op.setAtVersionstamp} THEN
        IF r.op = ${op.setAtVersionstamp} THEN
          v_key := v_key || '\\x02'::bytea || convert_to(encode(v_stamp, 'hex'), 'UTF8') || '\\x00'::bytea;
        END IF;
        INSERT INTO ${prefix} AS t (key, value, version, expires_at)
          VALUES (v_key, r.value, v_stamp, r.time)
          ON CONFLICT (key) DO UPDATE
            SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;
      ELSIF r.op = ${op.delete} THEN
        -- An operation without a key stands for the mutations of an empty write.
        IF v_key IS NULL THEN
          CONTINUE;
        END IF;
        DELETE FROM ${prefix} WHERE key = v_key;
      ELSIF r.op = ${op.deleteExpired} THEN
        SELECT expires_at INTO v_expires FROM ${prefix} WHERE key = v_key;
        IF FOUND AND v_expires <= v_now THEN
          DELETE FROM ${prefix} WHERE key = v_key;
        ELSE
          v_key := NULL;
        END IF;
        IF r.value IS NOT NULL AND
           (v_key IS NOT NULL OR v_expires IS NULL OR v_expires > r.time) THEN
          DELETE FROM ${prefix} WHERE key = r.value;
          v_changed := array_append(v_changed, r.value);
        END IF;
        IF v_key IS NULL THEN
          CONTINUE;
        END IF;
      ELSE
        SELECT value INTO v_value FROM ${prefix}
          WHERE key = v_key AND NOT (${absent});
        IF NOT FOUND THEN
          v_value := r.value;
        ELSE
          v_number := ${numberOf("v_value")};
          IF r.op = ${op.sum} THEN
            v_number := mod(v_number + ${numberOf("r.value")}, ${2n ** 64n});
            v_value := ${u64Of("v_number")};
          ELSIF r.op = ${op.min} THEN
            IF ${numberOf("r.value")} < v_number THEN
              v_value := r.value;
            END IF;
          ELSIF ${numberOf("r.value")} > v_number THEN
            v_value := r.value;
          END IF;
        END IF;
        INSERT INTO ${prefix} AS t (key, value, version, expires_at)
          VALUES (v_key, v_value, v_stamp, NULL)
          ON CONFLICT (key) DO UPDATE
            SET value = excluded.value, version = excluded.version, expires_at = NULL;
      END IF;
      v_changed := array_append(v_changed, v_key);
    END IF;
  END LOOP;
  v_outcomes := array_append(v_outcomes, v_outcome);
  v_result := v_sequence || ':' || array_to_string(v_outcomes, ',');
  IF v_applied = 0 THEN
    RETURN v_result;
  END IF;
  UPDATE ${prefix} SET version = v_stamp WHERE key = '\\x0000';
  INSERT INTO ${prefix} (key, value, version, expires_at) VALUES
    ('\\x0001'::bytea || p_id, convert_to(v_result, 'UTF8'), v_stamp, v_now + ${retention}),
    ('\\x0002'::bytea || decode(v_sequence_hex, 'hex'),
     p_id || coalesce(
       (SELECT string_agg(decode(lpad(to_hex(length(c)), 8, '0'), 'hex') || c, ''::bytea ORDER BY o)
        FROM unnest(v_changed) WITH ORDINALITY AS u(c, o)), ''::bytea),
     v_stamp, v_now + ${retention});
  IF v_sequence % ${sweepInterval} = 0 THEN
    WITH old AS (
      SELECT key, value FROM ${prefix}
        WHERE key >= '\\x0002' AND key < '\\x0003' AND expires_at < v_now
        ORDER BY key LIMIT ${sweepSize}
    )
    DELETE FROM ${prefix} WHERE key IN (
      SELECT key FROM old UNION ALL SELECT '\\x0001'::bytea || substr(value, 1, 16) FROM old
    );
  END IF;
  PERFORM pg_notify('${channelOf(prefix)}', v_sequence::text);
  RETURN v_result;
END
$body$`;
}
