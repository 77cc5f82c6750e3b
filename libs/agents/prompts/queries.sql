-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- conversation_entries
SELECT l.event, l.level, l.message, l.call, l.tool, l.input, l.run_id,
  coalesce(CASE l.task_id WHEN k.task_id THEN r.generation > k.generation ELSE l.task_id = $2 END, true) AS is_later
FROM agent_tasks t
JOIN agent_tasks o ON o.workspace_id = $1 AND o.id IN (t.id, t.continues_id)
LEFT JOIN task_runs k ON k.workspace_id = $1 AND k.id = $3::uuid AND k.task_id IN (t.id, t.continues_id)
CROSS JOIN LATERAL (
  SELECT l.id, l.task_id, l.run_id, l.event, l.level, l.details -> 'call' AS call,
    left(l.message, CASE l.event WHEN 'agent_tool_result' THEN 301 ELSE 2001 END) AS message,
    left(l.details ->> 'tool', 300) AS tool, left(l.details ->> 'input', 301) AS input
  FROM task_log_lines l
  WHERE l.workspace_id = $1 AND l.task_id = o.id AND l.created_at >= o.created_at - interval '1 hour'
    AND l.event IN ('agent_message', 'agent_tool', 'agent_tool_result', 'message_delivered')
  ORDER BY l.id DESC LIMIT 500) l
LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.id = l.run_id
WHERE t.workspace_id = $1 AND t.id = $2
ORDER BY l.task_id = $2, l.id

-- delete_prompt_template
DELETE FROM prompt_templates WHERE workspace_id = $1 RETURNING workspace_id

-- keep_prompt
INSERT INTO run_prompts (workspace_id, run_id, prompt)
SELECT $1, r.id, $4 FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
ON CONFLICT (workspace_id, run_id) DO UPDATE SET prompt = excluded.prompt, created_at = now()
RETURNING created_at

-- live_task_of_run
SELECT r.task_id, p.instructions FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = t.project_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

-- prompt_facts
SELECT t.title, t.description, t.instructions, t.steps, t.deliverables, t.acceptance, t.input_context,
  t.checkpoint_data, t.continues_id IS NOT NULL AS is_continuing, t.answers,
  (SELECT p.template FROM prompt_templates p WHERE p.workspace_id = $1) AS template,
  (SELECT jsonb_agg(to_jsonb(d) ORDER BY d.id) FROM (
    SELECT p.id, p.title, p.status, p.summary, left(p.output_result::text, 4001) AS result
    FROM task_dependencies e JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = e.depends_on_id
    WHERE e.workspace_id = $1 AND e.task_id = $2
    ORDER BY p.id LIMIT 20) d) AS prerequisites,
  (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.number) FROM (
    SELECT r.generation AS number, r.ended_at AS "endedAt", r.end_reason AS "endReason", r.error,
      r.error_class AS "errorClass", r.branch
    FROM task_runs r WHERE r.workspace_id = $1 AND r.task_id = $2 AND r.ended_at IS NOT NULL
    ORDER BY r.generation DESC LIMIT 10) r) AS runs,
  (SELECT jsonb_agg(to_jsonb(m) - 'run' - 'position' ORDER BY m.run, m.position) FROM (
    SELECT m.type, m.text, m.data, r.generation AS run, m.sequence AS position
    FROM task_runs r JOIN run_messages m ON m.workspace_id = $1 AND m.run_id = r.id
    WHERE r.workspace_id = $1 AND r.task_id = $2 AND m.state = 'undelivered' AND m.question_id IS NULL
    ORDER BY r.generation DESC, m.sequence DESC LIMIT 20) m) AS messages
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2

-- prompt_of_run
SELECT r.task_id, p.prompt, p.created_at FROM task_runs r
LEFT JOIN run_prompts p ON p.workspace_id = $1 AND p.run_id = r.id
WHERE r.workspace_id = $1 AND r.id = $2

-- read_prompt_template
SELECT template, updated_at FROM prompt_templates WHERE workspace_id = $1

-- write_prompt_template
INSERT INTO prompt_templates (workspace_id, template) VALUES ($1, $2)
ON CONFLICT (workspace_id) DO UPDATE SET template = excluded.template, updated_at = now()
RETURNING template, updated_at
