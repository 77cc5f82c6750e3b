-- The statements as they run. Made by `npm run generate`; change the modules that declare them.
-- Left out, because its text depends on the request: prompts/conversation.sql.ts

-- attachments_of_messages
WITH RECURSIVE line AS (
  SELECT t.id, t.continues_id, 1 AS depth FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2
  UNION ALL
  SELECT t.id, t.continues_id, line.depth + 1 FROM line
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = line.continues_id
  WHERE line.depth < 20
)
SELECT m.data ->> 'attachments' AS id
FROM line JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = line.id
JOIN run_messages m ON m.workspace_id = $1 AND m.run_id = r.id AND m.question_id IS NULL
WHERE pg_input_is_valid(m.data ->> 'attachments', 'uuid')
GROUP BY m.data ->> 'attachments'
ORDER BY max(m.sent_at) DESC, 1
LIMIT 20

-- delete_prompt_template
DELETE FROM prompt_templates WHERE workspace_id = $1 AND ($2::int IS NULL OR version = $2)
RETURNING workspace_id

-- keep_prompt
INSERT INTO run_prompts (workspace_id, run_id, prompt)
SELECT $1, r.id, $4 FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
ON CONFLICT (workspace_id, run_id) DO UPDATE SET prompt = excluded.prompt, created_at = now()
RETURNING created_at

-- live_task_of_run
SELECT r.task_id, p.id AS project_id, p.instructions, p.mcp_servers FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = t.project_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

-- prompt_facts
SELECT t.title, t.description, t.instructions, t.steps, t.deliverables, t.acceptance,
  t.acceptance_script, t.input_context,
  t.checkpoint_data, t.answers,
  (SELECT jsonb_build_object('repository', p.name, 'branch', c.branch, 'target', c.target,
    'path', p.path, 'acceptance', p.acceptance, 'feedback', coalesce((
      SELECT jsonb_agg(jsonb_build_object('kind', v.kind, 'verdict', v.verdict, 'author', v.author,
        'body', v.body, 'comments', v.comments, 'exitCode', v.exit_code,
        'isOnTarget', v.kind = 'proof' AND v.commit_id <> c.head_commit) ORDER BY v.id)
      FROM change_reviews v
      WHERE v.workspace_id = $1 AND v.task_id = c.task_id AND v.revision = c.revision
        AND v.verdict IN ('red', 'changes_requested', 'commented', 'conflict')), '[]'))
    FROM changes c JOIN repositories p ON p.workspace_id = $1 AND p.id = c.repository_id
    WHERE c.workspace_id = $1 AND c.task_id = t.id) AS change,
  (SELECT jsonb_build_object('id', c.id, 'title', c.title, 'summary', c.summary) FROM agent_tasks c
    WHERE c.workspace_id = $1 AND c.id = t.continues_id) AS continued,
  (SELECT p.template FROM prompt_templates p WHERE p.workspace_id = $1) AS template,
  (SELECT jsonb_agg(to_jsonb(d) ORDER BY d.id) FROM (
    SELECT p.id, p.title, p.status, p.summary, left(p.output_result::text, 4001) AS result
    FROM task_dependencies e JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = e.depends_on_id
    WHERE e.workspace_id = $1 AND e.task_id = $2
    ORDER BY p.id LIMIT 20) d) AS prerequisites,
  (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.number) FROM (
    SELECT r.generation AS number, r.ended_at AS "endedAt", r.end_reason AS "endReason", r.error,
      r.error_class AS "errorClass", r.branch, r.exit_code AS "exitCode",
      CASE r.error_class WHEN 'acceptance_failed' THEN r.stack_trace END AS output
    FROM task_runs r WHERE r.workspace_id = $1 AND r.task_id = $2 AND r.ended_at IS NOT NULL
    ORDER BY r.generation DESC LIMIT 10) r) AS runs,
  (SELECT jsonb_agg(to_jsonb(m) - 'run' - 'position' ORDER BY m.run, m.position) FROM (
    SELECT m.type, m.text, m.data, m.state = 'delivered' AS "isDelivered", r.generation AS run,
      m.sequence AS position
    FROM task_runs r JOIN run_messages m ON m.workspace_id = $1 AND m.run_id = r.id
    WHERE r.workspace_id = $1 AND r.task_id = $2 AND m.question_id IS NULL
      AND (m.state = 'undelivered' OR m.state = 'delivered' AND $3::boolean
        AND (r.generation, m.sequence) > (coalesce((SELECT k.generation FROM task_runs k
          WHERE k.workspace_id = $1 AND k.task_id = $2 AND k.id = $4::uuid), 0), $5::int))
    ORDER BY r.generation DESC, m.sequence DESC LIMIT 20) m) AS messages
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2

-- prompt_of_run
SELECT r.task_id, p.prompt, p.created_at FROM task_runs r
LEFT JOIN run_prompts p ON p.workspace_id = $1 AND p.run_id = r.id
WHERE r.workspace_id = $1 AND r.id = $2

-- read_prompt_template
SELECT template, updated_at, version FROM prompt_templates WHERE workspace_id = $1

-- write_prompt_template
INSERT INTO prompt_templates AS t (workspace_id, template)
SELECT $1, $2
WHERE coalesce($3::int, 0) IN (0, (SELECT version FROM prompt_templates WHERE workspace_id = $1))
ON CONFLICT (workspace_id) DO UPDATE SET template = excluded.template, version = excluded.version,
  updated_at = now()
WHERE $3::int IS NULL OR t.version = $3
RETURNING template, updated_at, version
