-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- approvals_of_change
SELECT v.author FROM change_reviews v
WHERE v.workspace_id = $1 AND v.task_id = $2 AND v.revision = $3 AND v.verdict = 'approved'
ORDER BY v.id

-- ask_reviewer_again
UPDATE changes c SET review_step = 'ask', obstacle = NULL, step_attempts = 0, updated_at = now(),
  version = c.version + 1
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step IS NULL
RETURNING c.task_id

-- attempts_at_change
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, t.title, t.summary,
  t.agent ->> 'kind' AS agent_kind, r.name AS repository_name, coalesce(
    (SELECT l.model FROM agent_usage_logs l
      WHERE l.workspace_id = c.workspace_id AND l.task_id = c.task_id
      GROUP BY l.model ORDER BY sum(l.total_tokens) DESC, l.model LIMIT 1),
    (SELECT r.model FROM task_runs r WHERE r.workspace_id = c.workspace_id AND r.id = c.run_id),
    t.agent ->> 'model') AS model, u.runs, u.tokens::text AS tokens, trim_scale(u.cost)::text AS cost_usd,
  u.work_seconds, w.review_seconds, w.review_rounds,
  proof.verdict AS proof_verdict, proof.exit_code AS proof_exit_code,
  proof.duration_ms AS proof_ms
FROM changes c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = c.workspace_id AND r.id = c.repository_id
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))) round) w
LEFT JOIN LATERAL (
  SELECT v.verdict, v.exit_code, v.duration_ms FROM change_reviews v
  WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id AND v.kind = 'proof'
  ORDER BY v.id DESC LIMIT 1) proof ON true
WHERE c.workspace_id = $1 AND (c.task_id = $2 OR c.attempts_id = (SELECT o.attempts_id FROM changes o
  WHERE o.workspace_id = $1 AND o.task_id = $2))
ORDER BY c.task_id

-- change_by_id
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id FROM changes c WHERE c.workspace_id = $1 AND c.task_id = $2

-- change_of_run
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, t.run_id IS NOT DISTINCT FROM u.id AS is_live, r.branch_pattern,
  coalesce(t.agent ->> 'kind', a.name) AS agent, t.project_id
FROM task_runs u
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = u.task_id
JOIN agents a ON a.workspace_id = $1 AND a.id = u.agent_id
LEFT JOIN changes c ON c.workspace_id = $1 AND c.task_id = t.id AND t.repository_id IS NOT NULL
LEFT JOIN repositories r ON r.workspace_id = $1 AND r.id = c.repository_id
WHERE u.workspace_id = $1 AND u.id = $2 AND u.agent_id = $3

-- change_to_review
SELECT t.title, t.description, t.instructions, t.priority, t.project_id, r.acceptance, c.target,
  c.head_commit, c.run_id, r.review, r.reviewer_kind AS kind, r.reviewer_model AS model
FROM changes c
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = $1 AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step = 'ask'

-- claim_step
WITH first_landings AS MATERIALIZED (
  SELECT DISTINCT ON (c.repository_id, c.target) c.task_id FROM changes c
  WHERE c.workspace_id = $1 AND c.step = 'land' AND c.step_due_at <= now()
    AND (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) = '{}'
    OR (SELECT (t.task_type || '') <> ALL (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) FROM agent_tasks t
      WHERE t.workspace_id = $1 AND t.id = c.task_id))
  ORDER BY c.repository_id, c.target, c.step_agent_id IS NULL, c.approved_at, c.task_id
),
due AS MATERIALIZED (
  SELECT c.task_id FROM changes c
  WHERE c.workspace_id = $1 AND c.step IS NOT NULL AND c.step_due_at <= now()
    AND (c.step_until IS NULL OR c.step_until <= now())
    AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))
    AND (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) = '{}'
    OR (SELECT (t.task_type || '') <> ALL (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) FROM agent_tasks t
      WHERE t.workspace_id = $1 AND t.id = c.task_id))
    AND EXISTS (SELECT FROM agents a WHERE a.workspace_id = $1 AND a.id = $2
      AND 'git' = ANY (a.capabilities))
    AND ($3::boolean OR c.step = 'prove' OR c.step <> 'sync' AND EXISTS (SELECT FROM repositories r
      WHERE r.workspace_id = $1 AND r.id = c.repository_id AND r.forge = 'none'))
    AND (c.step <> 'land' OR c.task_id IN (SELECT task_id FROM first_landings)
      AND NOT EXISTS (SELECT FROM changes o
      WHERE o.workspace_id = $1 AND o.repository_id = c.repository_id AND o.target = c.target
        AND o.step = 'land' AND o.step_agent_id IS NOT NULL AND o.task_id <> c.task_id))
  ORDER BY CASE c.step WHEN 'land' THEN 1 WHEN 'prove' THEN 2 ELSE 3 END,
    coalesce(c.approved_at, c.submitted_at), c.task_id
  LIMIT 1
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE changes c SET step_agent_id = $2, step_generation = c.step_generation + 1,
  step_hurried = false,
  step_until = now() + interval '60 seconds',
  updated_at = CASE c.step WHEN 'sync' THEN c.updated_at ELSE now() END
FROM due d
WHERE c.workspace_id = $1 AND c.task_id = d.task_id
RETURNING c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id

-- cost_of_agent_kinds
WITH chosen AS MATERIALIZED (
  SELECT c.workspace_id, c.task_id, c.review_task_ids, c.state, c.revision, c.created_at,
    c.merged_at, t.agent ->> 'kind' AS key
  FROM changes c JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
  WHERE c.workspace_id = $1 AND c.state IN ('MERGED', 'FAILED', 'CLOSED')
    AND coalesce(c.merged_at, c.closed_at) >= $2 AND coalesce(c.merged_at, c.closed_at) < $3
    AND ($4::uuid IS NULL OR c.repository_id = $4)
),
measured AS MATERIALIZED (
  SELECT c.key, c.state = 'MERGED' AS is_merged, c.revision, u.tokens, u.cost, u.work_seconds,
    w.review_seconds, w.review_rounds,
    extract(epoch FROM c.merged_at - c.created_at)::int AS merge_seconds
  FROM chosen c
  CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))) round) w
  WHERE c.state = 'MERGED' OR u.runs > 0
),
summed AS (
  SELECT key, count(*) FILTER (WHERE is_merged)::int AS merged,
    count(*) FILTER (WHERE NOT is_merged)::int AS unmerged,
    coalesce(sum(tokens) FILTER (WHERE is_merged), 0)::text AS tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE is_merged), 0))::text AS cost_usd,
    coalesce(sum(tokens) FILTER (WHERE NOT is_merged), 0)::text AS unmerged_tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE NOT is_merged), 0))::text AS unmerged_cost_usd,
    (percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY tokens) FILTER (WHERE is_merged))::text[] AS token_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY cost) FILTER (WHERE is_merged) AS cost_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY merge_seconds) FILTER (WHERE is_merged) AS merge_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY work_seconds) FILTER (WHERE is_merged) AS work_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_seconds) FILTER (WHERE is_merged) AS review_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY revision) FILTER (WHERE is_merged) AS revision_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_rounds) FILTER (WHERE is_merged) AS round_quantiles
  FROM measured GROUP BY key
)
SELECT s.key, NULL AS name,
  s.merged, s.unmerged, s.tokens, s.cost_usd, s.unmerged_tokens, s.unmerged_cost_usd,
  s.token_quantiles, s.merge_quantiles, s.work_quantiles, s.review_quantiles,
  s.revision_quantiles, s.round_quantiles,
  CASE WHEN s.cost_quantiles IS NOT NULL THEN ARRAY(SELECT trim_scale(q)::text
    FROM unnest(s.cost_quantiles) WITH ORDINALITY AS c (q, n) ORDER BY n) END AS cost_quantiles
FROM summed s
ORDER BY s.merged DESC, s.unmerged DESC, s.key
LIMIT $5

-- cost_of_change
SELECT u.runs, u.tokens::text AS tokens, trim_scale(u.cost)::text AS cost_usd,
  u.work_seconds, w.review_seconds, w.review_rounds FROM changes c CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))) round) w
WHERE c.workspace_id = $1 AND c.task_id = $2

-- cost_of_models
WITH chosen AS MATERIALIZED (
  SELECT c.workspace_id, c.task_id, c.review_task_ids, c.state, c.revision, c.created_at,
    c.merged_at, coalesce(
    (SELECT l.model FROM agent_usage_logs l
      WHERE l.workspace_id = c.workspace_id AND l.task_id = c.task_id
      GROUP BY l.model ORDER BY sum(l.total_tokens) DESC, l.model LIMIT 1),
    (SELECT r.model FROM task_runs r WHERE r.workspace_id = c.workspace_id AND r.id = c.run_id),
    t.agent ->> 'model') AS key
  FROM changes c JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
  WHERE c.workspace_id = $1 AND c.state IN ('MERGED', 'FAILED', 'CLOSED')
    AND coalesce(c.merged_at, c.closed_at) >= $2 AND coalesce(c.merged_at, c.closed_at) < $3
    AND ($4::uuid IS NULL OR c.repository_id = $4)
),
measured AS MATERIALIZED (
  SELECT c.key, c.state = 'MERGED' AS is_merged, c.revision, u.tokens, u.cost, u.work_seconds,
    w.review_seconds, w.review_rounds,
    extract(epoch FROM c.merged_at - c.created_at)::int AS merge_seconds
  FROM chosen c
  CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))) round) w
  WHERE c.state = 'MERGED' OR u.runs > 0
),
summed AS (
  SELECT key, count(*) FILTER (WHERE is_merged)::int AS merged,
    count(*) FILTER (WHERE NOT is_merged)::int AS unmerged,
    coalesce(sum(tokens) FILTER (WHERE is_merged), 0)::text AS tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE is_merged), 0))::text AS cost_usd,
    coalesce(sum(tokens) FILTER (WHERE NOT is_merged), 0)::text AS unmerged_tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE NOT is_merged), 0))::text AS unmerged_cost_usd,
    (percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY tokens) FILTER (WHERE is_merged))::text[] AS token_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY cost) FILTER (WHERE is_merged) AS cost_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY merge_seconds) FILTER (WHERE is_merged) AS merge_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY work_seconds) FILTER (WHERE is_merged) AS work_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_seconds) FILTER (WHERE is_merged) AS review_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY revision) FILTER (WHERE is_merged) AS revision_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_rounds) FILTER (WHERE is_merged) AS round_quantiles
  FROM measured GROUP BY key
)
SELECT s.key, NULL AS name,
  s.merged, s.unmerged, s.tokens, s.cost_usd, s.unmerged_tokens, s.unmerged_cost_usd,
  s.token_quantiles, s.merge_quantiles, s.work_quantiles, s.review_quantiles,
  s.revision_quantiles, s.round_quantiles,
  CASE WHEN s.cost_quantiles IS NOT NULL THEN ARRAY(SELECT trim_scale(q)::text
    FROM unnest(s.cost_quantiles) WITH ORDINALITY AS c (q, n) ORDER BY n) END AS cost_quantiles
FROM summed s
ORDER BY s.merged DESC, s.unmerged DESC, s.key
LIMIT $5

-- cost_of_repositories
WITH chosen AS MATERIALIZED (
  SELECT c.workspace_id, c.task_id, c.review_task_ids, c.state, c.revision, c.created_at,
    c.merged_at, c.repository_id::text AS key
  FROM changes c JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
  WHERE c.workspace_id = $1 AND c.state IN ('MERGED', 'FAILED', 'CLOSED')
    AND coalesce(c.merged_at, c.closed_at) >= $2 AND coalesce(c.merged_at, c.closed_at) < $3
    AND ($4::uuid IS NULL OR c.repository_id = $4)
),
measured AS MATERIALIZED (
  SELECT c.key, c.state = 'MERGED' AS is_merged, c.revision, u.tokens, u.cost, u.work_seconds,
    w.review_seconds, w.review_rounds,
    extract(epoch FROM c.merged_at - c.created_at)::int AS merge_seconds
  FROM chosen c
  CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))) round) w
  WHERE c.state = 'MERGED' OR u.runs > 0
),
summed AS (
  SELECT key, count(*) FILTER (WHERE is_merged)::int AS merged,
    count(*) FILTER (WHERE NOT is_merged)::int AS unmerged,
    coalesce(sum(tokens) FILTER (WHERE is_merged), 0)::text AS tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE is_merged), 0))::text AS cost_usd,
    coalesce(sum(tokens) FILTER (WHERE NOT is_merged), 0)::text AS unmerged_tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE NOT is_merged), 0))::text AS unmerged_cost_usd,
    (percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY tokens) FILTER (WHERE is_merged))::text[] AS token_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY cost) FILTER (WHERE is_merged) AS cost_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY merge_seconds) FILTER (WHERE is_merged) AS merge_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY work_seconds) FILTER (WHERE is_merged) AS work_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_seconds) FILTER (WHERE is_merged) AS review_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY revision) FILTER (WHERE is_merged) AS revision_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_rounds) FILTER (WHERE is_merged) AS round_quantiles
  FROM measured GROUP BY key
)
SELECT s.key, (SELECT p.name FROM repositories p
  WHERE p.workspace_id = $1 AND p.id = s.key::uuid) AS name,
  s.merged, s.unmerged, s.tokens, s.cost_usd, s.unmerged_tokens, s.unmerged_cost_usd,
  s.token_quantiles, s.merge_quantiles, s.work_quantiles, s.review_quantiles,
  s.revision_quantiles, s.round_quantiles,
  CASE WHEN s.cost_quantiles IS NOT NULL THEN ARRAY(SELECT trim_scale(q)::text
    FROM unnest(s.cost_quantiles) WITH ORDINALITY AS c (q, n) ORDER BY n) END AS cost_quantiles
FROM summed s
ORDER BY s.merged DESC, s.unmerged DESC, s.key
LIMIT $5

-- cost_of_task_types
WITH chosen AS MATERIALIZED (
  SELECT c.workspace_id, c.task_id, c.review_task_ids, c.state, c.revision, c.created_at,
    c.merged_at, t.task_type AS key
  FROM changes c JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
  WHERE c.workspace_id = $1 AND c.state IN ('MERGED', 'FAILED', 'CLOSED')
    AND coalesce(c.merged_at, c.closed_at) >= $2 AND coalesce(c.merged_at, c.closed_at) < $3
    AND ($4::uuid IS NULL OR c.repository_id = $4)
),
measured AS MATERIALIZED (
  SELECT c.key, c.state = 'MERGED' AS is_merged, c.revision, u.tokens, u.cost, u.work_seconds,
    w.review_seconds, w.review_rounds,
    extract(epoch FROM c.merged_at - c.created_at)::int AS merge_seconds
  FROM chosen c
  CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))) round) w
  WHERE c.state = 'MERGED' OR u.runs > 0
),
summed AS (
  SELECT key, count(*) FILTER (WHERE is_merged)::int AS merged,
    count(*) FILTER (WHERE NOT is_merged)::int AS unmerged,
    coalesce(sum(tokens) FILTER (WHERE is_merged), 0)::text AS tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE is_merged), 0))::text AS cost_usd,
    coalesce(sum(tokens) FILTER (WHERE NOT is_merged), 0)::text AS unmerged_tokens,
    trim_scale(coalesce(sum(cost) FILTER (WHERE NOT is_merged), 0))::text AS unmerged_cost_usd,
    (percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY tokens) FILTER (WHERE is_merged))::text[] AS token_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY cost) FILTER (WHERE is_merged) AS cost_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY merge_seconds) FILTER (WHERE is_merged) AS merge_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY work_seconds) FILTER (WHERE is_merged) AS work_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_seconds) FILTER (WHERE is_merged) AS review_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY revision) FILTER (WHERE is_merged) AS revision_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY review_rounds) FILTER (WHERE is_merged) AS round_quantiles
  FROM measured GROUP BY key
)
SELECT s.key, NULL AS name,
  s.merged, s.unmerged, s.tokens, s.cost_usd, s.unmerged_tokens, s.unmerged_cost_usd,
  s.token_quantiles, s.merge_quantiles, s.work_quantiles, s.review_quantiles,
  s.revision_quantiles, s.round_quantiles,
  CASE WHEN s.cost_quantiles IS NOT NULL THEN ARRAY(SELECT trim_scale(q)::text
    FROM unnest(s.cost_quantiles) WITH ORDINALITY AS c (q, n) ORDER BY n) END AS cost_quantiles
FROM summed s
ORDER BY s.merged DESC, s.unmerged DESC, s.key
LIMIT $5

-- due_agent_reviews
SELECT c.workspace_id, c.task_id, c.state, c.review_step FROM changes c
WHERE c.review_step IS NOT NULL AND (c.state <> 'IN_REVIEW' OR (c.obstacle IS NULL OR c.updated_at <= now() - interval '30 seconds')
  AND (c.review_step = 'ask' OR EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = c.workspace_id AND t.id = c.review_task_id
    AND (((t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) OR (t.status = 'FAILED' OR (t.status = 'ABORTED' AND t.retry_at IS NULL)
  OR (t.status = 'ARCHIVED' AND t.completed_at IS NULL))) OR t.status = 'ARCHIVED')))) AND ($2::uuid IS NULL OR c.workspace_id = $2)
LIMIT $1

-- end_agent_review
WITH c AS (
  UPDATE changes c SET review_step = NULL, obstacle = $3, updated_at = now(),
    version = c.version + 1,
    step_attempts = CASE c.state WHEN 'IN_REVIEW' THEN 0 ELSE c.step_attempts END
  WHERE c.workspace_id = $1 AND c.task_id = $2
  RETURNING c.*, old.obstacle AS earlier_obstacle
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, run_id, level, message, details, actor_kind)
  SELECT c.workspace_id, 'change.obstructed', c.task_id, c.run_id, 'WARN', left(c.obstacle, 500), jsonb_build_object('state', c.state, 'obstacle', c.obstacle, 'repositoryId', c.repository_id, 'revision', c.revision,
  'branch', c.branch, 'headCommit', c.head_commit), 'coordinator'
  FROM (SELECT * FROM c WHERE c.obstacle IS NOT NULL
      AND c.obstacle IS DISTINCT FROM c.earlier_obstacle) c
)
SELECT task_id FROM c

-- end_removal
UPDATE changes c SET step = NULL, step_due_at = NULL, step_agent_id = NULL, step_until = NULL,
  step_generation = c.step_generation + 1, step_attempts = 0, obstacle = NULL, updated_at = now(),
  version = c.version + 1, may_have_landed = false,
  pull_request = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.pull_request END,
  pull_request_url = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.pull_request_url END,
  branch = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.branch END,
  base_commit = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.base_commit END,
  head_commit = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.head_commit END
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3
  AND c.step_generation = $4 AND c.step = 'remove'
RETURNING c.task_id

-- end_sync
UPDATE changes c SET step_agent_id = NULL, step_until = NULL, step_attempts = 0,
  step_generation = c.step_generation + 1,
  obstacle = CASE WHEN c.step_attempts = 0 THEN c.obstacle END,
  version = c.version + (c.step_attempts > 0)::int,
  step = CASE WHEN n.goes_on THEN c.step END,
  step_hurried = false,
  step_due_at = CASE WHEN NOT n.goes_on THEN NULL WHEN c.step_hurried THEN now()
    ELSE now() + make_interval(secs => greatest($5::float8, n.synced * 3)) END
FROM (
  SELECT o.state <> 'FAILED' AND o.pull_request IS NOT NULL AND r.forge <> 'none' AS goes_on,
    (SELECT count(*) FROM changes s
      WHERE s.workspace_id = $1 AND s.pull_request IS NOT NULL AND s.step = 'sync') AS synced
  FROM changes o JOIN repositories r ON r.workspace_id = $1 AND r.id = o.repository_id
  WHERE o.workspace_id = $1 AND o.task_id = $2) n
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3 AND c.step_generation = $4
  AND c.step = 'sync'
RETURNING c.task_id

-- facts_of_pull_request
SELECT t.title, t.description, t.summary, t.agent ->> 'kind' AS agent_kind,
  t.metadata -> 'source' ->> 'subject' AS subject, u.runs, u.tokens, u.cost_usd
FROM agent_tasks t
JOIN changes c ON c.workspace_id = $1 AND c.task_id = t.id
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = t.id)::int AS runs,
    coalesce(sum(r.used_tokens), 0)::text AS tokens,
    trim_scale(coalesce(sum(r.used_cost_usd), 0))::text AS cost_usd
  FROM task_runs r
  WHERE r.workspace_id = $1 AND r.task_id = ANY (c.review_task_ids || c.task_id)
    AND r.ended_at IS NOT NULL) u
WHERE t.workspace_id = $1 AND t.id = $2

-- feedback_of_change
SELECT v.id, v.revision, v.kind, v.verdict, v.commit_id, v.author,
  CASE split_part(v.author, ':', 1)
    WHEN 'user' THEN (SELECT nullif(u.name, '') FROM users u WHERE u.id = substr(v.author, 6)::uuid)
    WHEN 'api_key' THEN (SELECT k.name FROM api_keys k
      WHERE k.workspace_id = v.workspace_id AND k.id = substr(v.author, 9)::uuid)
    WHEN 'agent' THEN (SELECT a.name FROM agents a
      WHERE a.workspace_id = v.workspace_id AND a.id = substr(v.author, 7)::uuid) END AS author_name, v.body, v.comments, v.exit_code, v.duration_ms, v.external_id, v.created_at FROM change_reviews v
JOIN changes c ON c.workspace_id = $1 AND c.task_id = v.task_id AND c.revision = v.revision
WHERE v.workspace_id = $1 AND v.task_id = $2
  AND v.verdict IN ('red', 'changes_requested', 'commented', 'conflict')
ORDER BY v.id

-- group_attempts
UPDATE changes c SET attempts_id = $3
WHERE c.workspace_id = $1 AND c.task_id = ANY ($2::uuid[])
RETURNING c.task_id

-- hasten_sync
UPDATE changes c SET step_due_at = now()
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step = 'sync' AND c.step_agent_id IS NULL
RETURNING c.task_id

-- hurry_changes
UPDATE changes c SET step_due_at = now(), step_hurried = true
WHERE c.workspace_id = $1 AND c.repository_id = ANY ($2::uuid[]) AND c.pull_request IS NOT NULL
  AND c.step IN ('sync', 'land')
  AND (c.pull_request = $3 OR c.head_commit = $4 OR $4 = ANY (c.landing_commits))
RETURNING c.task_id

-- ids_of_other_attempts
SELECT o.task_id FROM changes c
JOIN changes o ON o.workspace_id = $1 AND o.attempts_id = c.attempts_id
WHERE c.workspace_id = $1 AND c.task_id = $2 AND o.task_id <> $2

-- insert_review
INSERT INTO change_reviews (workspace_id, id, task_id, revision, kind, verdict, commit_id, author,
  body, comments, exit_code, duration_ms, external_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13)
RETURNING id

-- keep_pull_request
UPDATE changes c SET pull_request = $3, pull_request_url = $4, pull_request_seen = $5,
  version = c.version + (c.pull_request IS DISTINCT FROM $3)::int
WHERE c.workspace_id = $1 AND c.task_id = $2
RETURNING c.task_id

-- known_of_forge
SELECT v.external_id FROM change_reviews v
WHERE v.workspace_id = $1 AND v.task_id = $2 AND v.external_id = ANY ($3::text[])

-- lock_change
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, r.review, r.max_revisions
FROM changes c JOIN repositories r ON r.workspace_id = $1 AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND c.task_id = $2
FOR NO KEY UPDATE OF c

-- lock_other_attempts
SELECT c.task_id, c.state, c.state IN ('APPROVED', 'MERGED') AS is_chosen,
  c.state = 'CLOSED' AND c.step = 'remove' AND c.landing_commits || c.earlier_landings <> '{}'
    OR c.state IN ('WORKING', 'FAILED') AND c.may_have_landed AS may_have_landed
FROM changes c
WHERE c.workspace_id = $1 AND c.attempts_id = $2 AND c.task_id <> $3
ORDER BY c.task_id
FOR NO KEY UPDATE

-- merge_queue
WITH queued AS MATERIALIZED (
  SELECT c.task_id, c.repository_id, c.target, c.approved_by, c.approved_at, c.obstacle,
    CASE WHEN c.step_until > now() THEN c.step_agent_id END AS held_by, c.step_attempts, c.step_due_at <= now() AS is_due, c.step_due_at,
    row_number() OVER (PARTITION BY c.repository_id, c.target
      ORDER BY c.step_agent_id IS NULL, greatest(c.step_due_at, now()), c.approved_at, c.task_id)::int
      AS position
  FROM changes c
  WHERE c.workspace_id = $1 AND c.state = 'APPROVED' AND ($2::uuid IS NULL OR c.repository_id = $2)
),
pace AS MATERIALIZED (
  SELECT b.repository_id, b.target, p.seconds
  FROM (SELECT DISTINCT repository_id, target FROM queued) b
  CROSS JOIN LATERAL (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.seconds) AS seconds
    FROM (
      SELECT extract(epoch FROM l.merged_at
        - greatest(l.approved_at, lag(l.merged_at) OVER (ORDER BY l.merged_at)))::float8 AS seconds
      FROM (
        SELECT c.merged_at, c.approved_at FROM changes c
        WHERE c.workspace_id = $1 AND c.repository_id = b.repository_id AND c.target = b.target
          AND c.state = 'MERGED'
        ORDER BY c.merged_at DESC LIMIT 21) l
      WHERE l.approved_at IS NOT NULL
      ORDER BY l.merged_at DESC LIMIT 20) m) p
)
SELECT q.task_id, t.title, q.repository_id, r.name AS repository_name, q.target, q.position,
  q.approved_by, q.approved_at, q.obstacle, q.held_by AS agent_id, a.name AS agent_name,
  q.step_attempts, q.is_due, nullif(q.step_due_at, 'infinity') AS due_at,
  p.seconds AS seconds_per_merge,
  CASE WHEN q.step_due_at < 'infinity' THEN
    greatest(q.step_due_at, now()) + q.position * make_interval(secs => p.seconds) END AS expected_at
FROM queued q
JOIN pace p ON p.repository_id = q.repository_id AND p.target = q.target
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = q.task_id
JOIN repositories r ON r.workspace_id = $1 AND r.id = q.repository_id
LEFT JOIN agents a ON a.workspace_id = $1 AND a.id = q.held_by
ORDER BY r.name, q.repository_id, q.target, q.position
LIMIT $3

-- merged_changes
WITH page AS MATERIALIZED (
  SELECT c.* FROM changes c
  WHERE c.workspace_id = $1 AND c.state = 'MERGED'
    AND coalesce(c.merged_at, c.closed_at) >= $2 AND coalesce(c.merged_at, c.closed_at) < $3
    AND ($4::uuid IS NULL OR c.repository_id = $4)
    AND ($5::bigint IS NULL OR (coalesce(c.merged_at, c.closed_at), c.task_id)
      < ('epoch'::timestamptz + $5::bigint * interval '1 microsecond', $6::uuid))
  ORDER BY coalesce(c.merged_at, c.closed_at) DESC, c.task_id DESC
  LIMIT $7
)
SELECT c.task_id, t.title, t.task_type, c.repository_id, p.name AS repository_name,
  t.agent ->> 'kind' AS agent_kind, coalesce(
    (SELECT l.model FROM agent_usage_logs l
      WHERE l.workspace_id = c.workspace_id AND l.task_id = c.task_id
      GROUP BY l.model ORDER BY sum(l.total_tokens) DESC, l.model LIMIT 1),
    (SELECT r.model FROM task_runs r WHERE r.workspace_id = c.workspace_id AND r.id = c.run_id),
    t.agent ->> 'model') AS model, c.merged_at,
  (extract(epoch FROM c.merged_at) * 1000000)::bigint::text AS merged_us,
  extract(epoch FROM c.merged_at - c.created_at)::int AS seconds_to_merge, c.revision,
  u.runs, u.tokens::text AS tokens, trim_scale(u.cost)::text AS cost_usd,
  u.work_seconds, w.review_seconds, w.review_rounds
FROM page c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories p ON p.workspace_id = c.workspace_id AND p.id = c.repository_id
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested'))) round) w
ORDER BY c.merged_at DESC, c.task_id DESC

-- move_change
WITH m AS MATERIALIZED (
  SELECT * FROM jsonb_to_record($3::jsonb) AS m (to_state text, run_id uuid, base_commit text, head_commit text, files_changed int, insertions int, deletions int, merged_commit text, approved_by text, unattended_revisions int, review_seconds float8, review_step text, reason text, message text, actor_kind text, actor_id text)
),
c AS (
  UPDATE changes c SET state = m.to_state, version = c.version + 1, updated_at = now(),
    obstacle = NULL, step_generation = c.step_generation + 1, step_agent_id = NULL,
    step_until = NULL, step_attempts = 0, step_waits_since = NULL, step_overdue = false,
    step_hurried = false,
    step_due_at = CASE WHEN CASE m.to_state WHEN 'PROVING' THEN 'prove' WHEN 'APPROVED' THEN 'land' WHEN 'CLOSED' THEN CASE WHEN c.branch IS NOT NULL THEN 'remove' END WHEN 'MERGED' THEN 'remove' END IS NOT NULL THEN now() END,
    unattended_revisions = coalesce(m.unattended_revisions, c.unattended_revisions),
    approved_by = CASE m.to_state WHEN 'WORKING' THEN NULL WHEN 'APPROVED' THEN m.approved_by ELSE c.approved_by END,
    approved_at = CASE m.to_state WHEN 'WORKING' THEN NULL WHEN 'APPROVED' THEN now() ELSE c.approved_at END,
    closed_at = CASE m.to_state WHEN 'WORKING' THEN NULL WHEN 'FAILED' THEN now() WHEN 'CLOSED' THEN now() WHEN 'MERGED' THEN NULL ELSE c.closed_at END,
    step = CASE m.to_state WHEN 'PROVING' THEN 'prove' WHEN 'APPROVED' THEN 'land' WHEN 'CLOSED' THEN CASE WHEN c.branch IS NOT NULL THEN 'remove' END WHEN 'MERGED' THEN 'remove' ELSE NULL END,
    run_id = CASE m.to_state WHEN 'PROVING' THEN m.run_id ELSE c.run_id END,
    base_commit = CASE m.to_state WHEN 'PROVING' THEN m.base_commit ELSE c.base_commit END,
    head_commit = CASE m.to_state WHEN 'PROVING' THEN m.head_commit ELSE c.head_commit END,
    files_changed = CASE m.to_state WHEN 'PROVING' THEN m.files_changed ELSE c.files_changed END,
    insertions = CASE m.to_state WHEN 'PROVING' THEN m.insertions ELSE c.insertions END,
    deletions = CASE m.to_state WHEN 'PROVING' THEN m.deletions ELSE c.deletions END,
    revision = CASE m.to_state WHEN 'PROVING' THEN c.revision + 1 ELSE c.revision END,
    submitted_at = CASE m.to_state WHEN 'PROVING' THEN now() ELSE c.submitted_at END,
    review_task_id = CASE m.to_state WHEN 'PROVING' THEN CASE c.review_step WHEN 'take' THEN c.review_task_id END ELSE c.review_task_id END,
    landing_commits = CASE m.to_state WHEN 'PROVING' THEN '{}' ELSE c.landing_commits END,
    earlier_landings = CASE m.to_state WHEN 'PROVING' THEN c.earlier_landings || c.landing_commits ELSE c.earlier_landings END,
    may_have_landed = CASE m.to_state WHEN 'PROVING' THEN false ELSE c.may_have_landed END,
    review_due_at = CASE m.to_state WHEN 'IN_REVIEW' THEN now() + make_interval(secs => m.review_seconds) ELSE NULL END,
    review_step = CASE m.to_state WHEN 'IN_REVIEW' THEN m.review_step ELSE CASE c.review_step WHEN 'take' THEN 'take' END END,
    merged_commit = CASE m.to_state WHEN 'MERGED' THEN m.merged_commit ELSE c.merged_commit END,
    merged_at = CASE m.to_state WHEN 'MERGED' THEN now() ELSE c.merged_at END
  FROM m
  WHERE c.workspace_id = $1 AND c.task_id = $2 AND CASE WHEN (c.state, m.to_state) IN (('WORKING', 'PROVING'), ('WORKING', 'FAILED'), ('WORKING', 'CLOSED'), ('PROVING', 'IN_REVIEW'), ('PROVING', 'APPROVED'), ('PROVING', 'MERGED'), ('PROVING', 'WORKING'), ('PROVING', 'FAILED'), ('PROVING', 'CLOSED'), ('IN_REVIEW', 'APPROVED'), ('IN_REVIEW', 'MERGED'), ('IN_REVIEW', 'WORKING'), ('IN_REVIEW', 'FAILED'), ('IN_REVIEW', 'CLOSED'), ('APPROVED', 'MERGED'), ('APPROVED', 'WORKING'), ('APPROVED', 'FAILED'), ('APPROVED', 'CLOSED'), ('FAILED', 'WORKING'), ('FAILED', 'CLOSED'), ('CLOSED', 'WORKING'), ('CLOSED', 'MERGED')) THEN true END
  RETURNING c.*, old.state AS previous_state, m.reason, m.message, m.actor_kind, m.actor_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, run_id, reason, message, details, actor_kind, actor_id)
  SELECT c.workspace_id, CASE c.state WHEN 'WORKING' THEN 'change.returned' WHEN 'PROVING' THEN 'change.submitted' WHEN 'IN_REVIEW' THEN 'change.review_requested' WHEN 'APPROVED' THEN 'change.approved' WHEN 'FAILED' THEN 'change.failed' WHEN 'CLOSED' THEN 'change.closed' WHEN 'MERGED' THEN 'change.merged' END, c.task_id, c.run_id, c.reason, c.message, jsonb_build_object('previousState', c.previous_state, 'newState', c.state,
        'repositoryId', c.repository_id, 'revision', c.revision,
  'branch', c.branch, 'headCommit', c.head_commit), c.actor_kind, c.actor_id
  FROM c
)
SELECT c.version, c.step FROM c

-- name_branch
UPDATE changes c SET branch = coalesce(c.branch, $3), updated_at = now()
WHERE c.workspace_id = $1 AND c.task_id = $2
RETURNING c.branch

-- newest_changes
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, t.title, t.summary,
  t.agent ->> 'kind' AS agent_kind, r.name AS repository_name
FROM changes c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = c.workspace_id AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.task_id < $2)
ORDER BY c.task_id DESC LIMIT $3

-- newest_changes_of_both
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, t.title, t.summary,
  t.agent ->> 'kind' AS agent_kind, r.name AS repository_name
FROM changes c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = c.workspace_id AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.task_id < $2) AND c.state = $4 AND c.repository_id = $5
ORDER BY c.task_id DESC LIMIT $3

-- newest_changes_of_repository
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, t.title, t.summary,
  t.agent ->> 'kind' AS agent_kind, r.name AS repository_name
FROM changes c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = c.workspace_id AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.task_id < $2) AND c.repository_id = $4
ORDER BY c.task_id DESC LIMIT $3

-- newest_changes_of_state
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, t.title, t.summary,
  t.agent ->> 'kind' AS agent_kind, r.name AS repository_name
FROM changes c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = c.workspace_id AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.task_id < $2) AND c.state = $4
ORDER BY c.task_id DESC LIMIT $3

-- next_to_land
SELECT c.task_id, c.head_commit FROM changes l
JOIN changes c ON c.workspace_id = $1 AND c.repository_id = l.repository_id
  AND c.target = l.target AND c.task_id <> $2
JOIN agent_tasks o ON o.workspace_id = $1 AND o.id = c.task_id
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $2
  AND t.project_id IS NOT DISTINCT FROM o.project_id
WHERE l.workspace_id = $1 AND l.task_id = $2 AND l.step = 'land'
  AND c.step = 'land' AND c.step_due_at <= now() AND c.head_commit IS NOT NULL
  AND (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) = '{}'
    OR (SELECT (t.task_type || '') <> ALL (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) FROM agent_tasks t
      WHERE t.workspace_id = $1 AND t.id = c.task_id))
ORDER BY c.approved_at, c.task_id
LIMIT 1

-- note_comment
WITH c AS (
  SELECT c.*, v.id, v.body FROM change_reviews v
  JOIN changes c ON c.workspace_id = $1 AND c.task_id = v.task_id
  WHERE v.workspace_id = $1 AND v.id = $2
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, run_id, message, details, actor_kind, actor_id)
  SELECT c.workspace_id, 'change.commented', c.task_id, c.run_id, left(c.body, 500), jsonb_build_object('reviewId', c.id, 'state', c.state, 'repositoryId', c.repository_id, 'revision', c.revision,
  'branch', c.branch, 'headCommit', c.head_commit), $3, $4
  FROM c
)
SELECT id FROM c

-- note_not_landed
UPDATE changes c SET may_have_landed = false,
  step_until = now() + interval '60 seconds'
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3
  AND c.step_generation = $4 AND c.step = 'land'
RETURNING c.step_until

-- note_obstacle
WITH c AS (SELECT * FROM changes c WHERE c.workspace_id = $1 AND c.task_id = $2),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, run_id, level, message, details, actor_kind, actor_id)
  SELECT c.workspace_id, 'change.obstructed', c.task_id, c.run_id, 'WARN', 'Its change does not go on: ' || left(c.obstacle, 500), jsonb_build_object('state', c.state, 'obstacle', left(c.obstacle, 2000),
        'repositoryId', c.repository_id, 'revision', c.revision,
  'branch', c.branch, 'headCommit', c.head_commit), 'agent', $3
  FROM c
)
SELECT task_id FROM c

-- note_overdue_reviews
WITH due AS MATERIALIZED (
  SELECT c.workspace_id, c.task_id FROM changes c
  WHERE c.review_due_at <= now() AND ($2::uuid IS NULL OR c.workspace_id = $2)
  ORDER BY c.review_due_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
c AS (
  UPDATE changes c SET review_due_at = NULL, updated_at = now() FROM due d
  WHERE c.workspace_id = d.workspace_id AND c.task_id = d.task_id
  RETURNING c.*
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, run_id, level, message, details, actor_kind)
  SELECT c.workspace_id, 'change.review_overdue', c.task_id, c.run_id, 'WARN', 'Nobody has reviewed its change in time', jsonb_build_object('waitingSince', to_json(c.submitted_at)::jsonb, 'repositoryId', c.repository_id, 'revision', c.revision,
  'branch', c.branch, 'headCommit', c.head_commit), 'coordinator'
  FROM c
)
SELECT workspace_id FROM c

-- note_reviewer
UPDATE changes c SET review_step = 'take', review_task_id = $3,
  review_task_ids = c.review_task_ids || $3::uuid, updated_at = now(), obstacle = NULL,
  version = c.version + 1
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step = 'ask'
  AND c.head_commit = $4
RETURNING c.task_id

-- obstruct_change
UPDATE changes c SET obstacle = $3, step_attempts = 0, version = c.version + 1, updated_at = now()
WHERE c.workspace_id = $1 AND c.task_id = $2
RETURNING c.task_id

-- plan_landing
UPDATE changes c SET updated_at = now(), may_have_landed = true,
  landing_commits = array_append(array_remove(c.landing_commits, $5::text), $5::text),
  step_until = now() + interval '60 seconds'
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3
  AND c.step_generation = $4 AND c.step = 'land' AND NOT EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = $2 AND (t.workspace_id IN (SELECT p.workspace_id FROM pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
    UNION
    SELECT w.id FROM workspaces w
    WHERE EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))
    AND (EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
      OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = t.workspace_id AND p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
        AND (p.task_type IS NULL OR p.task_type = t.task_type)))))
RETURNING c.step_until

-- postpone_review
UPDATE changes c SET obstacle = $3, step_attempts = 0, updated_at = now(), version = c.version + 1
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step IS NOT NULL
RETURNING c.task_id

-- postpone_step
UPDATE changes c SET step_agent_id = NULL, step_until = NULL, obstacle = $6, updated_at = now(),
  version = c.version + 1, step_generation = c.step_generation + 1,
  step_attempts = c.step_attempts + $7::boolean::int, step_hurried = false,
  step_waits_since = CASE WHEN $8::boolean THEN coalesce(c.step_waits_since, now())
    WHEN NOT $7::boolean THEN c.step_waits_since END,
  step_overdue = c.step_waits_since IS NOT NULL AND CASE
    WHEN $8::boolean THEN c.step_overdue
      OR $9::boolean AND c.step_waits_since < now() - interval '3600 seconds'
    ELSE NOT $7::boolean AND c.step_overdue END,
  step_due_at = CASE WHEN $5::float8 IS NULL THEN 'infinity' WHEN c.step_hurried THEN now()
    ELSE now() + make_interval(secs => greatest($5::float8, CASE WHEN $8::boolean THEN greatest(
      least(extract(epoch FROM now() - coalesce(c.step_waits_since, now()))::float8 / 4,
        600), 3 * (SELECT count(*) FROM changes s
        WHERE s.workspace_id = $1 AND s.pull_request IS NOT NULL AND s.step = 'land')) END)) END
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3
  AND c.step_generation = $4
RETURNING c.step_overdue
  AND NOT (old.step_overdue AND old.step_waits_since IS NOT NULL) AS is_newly_overdue

-- renew_step
UPDATE changes c SET step_until = now() + interval '60 seconds'
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3
  AND c.step_generation = $4 AND NOT EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = $2 AND (t.workspace_id IN (SELECT p.workspace_id FROM pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
    UNION
    SELECT w.id FROM workspaces w
    WHERE EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))
    AND (EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
      OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = t.workspace_id AND p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
        AND (p.task_type IS NULL OR p.task_type = t.task_type)))))
RETURNING c.step_until

-- retry_step
UPDATE changes c SET step_attempts = 0, step_waits_since = NULL, step_overdue = false,
  obstacle = NULL, updated_at = now(), version = c.version + 1,
  step_due_at = CASE WHEN c.step = 'remove' AND c.step_attempts = 0 AND c.step_waits_since IS NULL
    THEN c.step_due_at ELSE now() END
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id IS NULL
RETURNING c.task_id

-- reviews_of_change
SELECT v.id, v.revision, v.kind, v.verdict, v.commit_id, v.author,
  CASE split_part(v.author, ':', 1)
    WHEN 'user' THEN (SELECT nullif(u.name, '') FROM users u WHERE u.id = substr(v.author, 6)::uuid)
    WHEN 'api_key' THEN (SELECT k.name FROM api_keys k
      WHERE k.workspace_id = v.workspace_id AND k.id = substr(v.author, 9)::uuid)
    WHEN 'agent' THEN (SELECT a.name FROM agents a
      WHERE a.workspace_id = v.workspace_id AND a.id = substr(v.author, 7)::uuid) END AS author_name, v.body, v.comments, v.exit_code, v.duration_ms, v.external_id, v.created_at FROM change_reviews v
WHERE v.workspace_id = $1 AND v.task_id = $2 ORDER BY v.id

-- shown_change
SELECT c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id, t.title, t.summary,
  t.agent ->> 'kind' AS agent_kind, r.name AS repository_name
FROM changes c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = c.workspace_id AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND c.task_id = $2

-- task_of_change
SELECT t.title, t.summary, t.project_id FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2

-- words_of_reviewer
SELECT t.id, t.agent_id, (((t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) OR (t.status = 'FAILED' OR (t.status = 'ABORTED' AND t.retry_at IS NULL)
  OR (t.status = 'ARCHIVED' AND t.completed_at IS NULL))) OR t.status = 'ARCHIVED') AS is_over,
  t.completed_at IS NOT NULL AS is_completed,
  coalesce(t.output_result ->> 'summary', t.summary, '') AS words
FROM changes c JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = c.review_task_id
WHERE c.workspace_id = $1 AND c.task_id = $2
