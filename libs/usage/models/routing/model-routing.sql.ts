import { command, query } from '#lib/database';
import type { ModelFallbacks } from '../domain/fallbacks.js';
import type { RoutingRule } from '../domain/select-model.js';
import type { TierModels } from '../domain/tiers.js';

export interface RoutingRow {
  enabled: boolean;
  rules: RoutingRule[];
  tiers: Partial<TierModels>;
  fallbacks: ModelFallbacks[];
  version: number;
}

/** Reads the routing. No row means that nobody has set it. Index: primary key. $1 workspace. */
export const readModelRouting = query<RoutingRow>(
  'read_model_routing',
  `SELECT enabled, rules, tiers, fallbacks, version FROM model_routing WHERE workspace_id = $1`,
);

/**
 * Writes the routing. It returns no row if the version is not the expected one.
 * Index: primary key.
 *
 * $1 workspace, $2 enabled, $3 rules, $4 tiers, $5 fallbacks, $6 expected version or NULL.
 */
export const writeModelRouting = command<RoutingRow>(
  'write_model_routing',
  `
INSERT INTO model_routing AS r (workspace_id, enabled, rules, tiers, fallbacks)
SELECT $1, $2, $3, $4, $5
WHERE coalesce($6::int, 0) IN (0, (SELECT version FROM model_routing WHERE workspace_id = $1))
ON CONFLICT (workspace_id) DO UPDATE SET enabled = excluded.enabled, rules = excluded.rules,
  tiers = excluded.tiers, fallbacks = excluded.fallbacks, version = r.version + 1, updated_at = now()
WHERE $6::int IS NULL OR r.version = $6
RETURNING enabled, rules, tiers, fallbacks, version`,
);

/** Finds the projects that exist. Index: primary key. $1 workspace, $2 ids. */
export const knownProjects = query<{ id: string }>(
  'known_projects',
  `SELECT id FROM projects WHERE workspace_id = $1 AND id = ANY($2::uuid[])`,
);
