/**
 * A CTE `sets`: the sets of capabilities of `input` (capabilityKey, requiredCapabilities), so that
 * the queues of its tasks are found.
 */
export function notedCapabilitySets(input: string): string {
  return `sets AS (
  INSERT INTO capability_sets AS s (workspace_id, key, capabilities)
  SELECT DISTINCT ON (i."capabilityKey") $1::uuid, i."capabilityKey", i."requiredCapabilities"
    FROM ${input} i
  -- Checked first because ON CONFLICT alone would write a row for each call. A set that is about to count
  -- as unused is written as well, so that it stays (see pruneCapabilitySets).
  WHERE NOT EXISTS (SELECT FROM capability_sets c WHERE c.workspace_id = $1
    AND c.key = i."capabilityKey"
    AND c.used_at > now() - interval '12 hours')
  ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = now()
    WHERE s.used_at <= now() - interval '12 hours'
)`;
}
