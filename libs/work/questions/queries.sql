-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- answer_question
WITH q AS (
  UPDATE questions q SET status = 'answered', answer = $3,
    answered_by = $4::text || coalesce(':' || $5::text, ''),
    closed_at = now()
  WHERE q.workspace_id = $1 AND q.id = $2 AND q.status = 'open'
  RETURNING q.*
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, level, message, details, actor_kind, actor_id)
  SELECT q.workspace_id, 'question.answered', 'question_answered', q.task_id, q.run_id, q.agent_id, 'INFO', 'Answered: ' || left(q.answer, 500), jsonb_build_object('questionId', q.id, 'prompt', q.prompt, 'answer', q.answer, 'answeredBy', q.answered_by), $4, $5
  FROM q
)
SELECT q.id, q.task_id, q.run_id, q.agent_id, q.run_waits, q.prompt, q.on_deadline,
  q.answer, q.closed_at FROM q

-- answers_of_task
SELECT t.answers, (SELECT to_jsonb(s) FROM task_secrets s
  WHERE s.workspace_id = $1 AND s.task_id = t.id AND s.column_name = 'answers') AS original
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2

-- cancel_waited_for
UPDATE questions q SET status = 'cancelled', closed_at = now()
WHERE q.workspace_id = $1 AND q.task_id = $2 AND q.run_id = $3 AND q.status = 'open' AND q.run_waits
RETURNING q.id

-- count_questions
SELECT count(*)::int AS count FROM questions
WHERE workspace_id = $1 AND task_id = $2 AND run_waits = $3

-- due_questions
SELECT q.workspace_id, q.id, q.task_id FROM questions q
WHERE q.status = 'open' AND q.deadline_at <= now() AND ($2::uuid IS NULL OR q.workspace_id = $2)
ORDER BY q.deadline_at
LIMIT $1

-- expire_question
WITH q AS (
  UPDATE questions q SET status = 'expired', closed_at = now(),
    answer = CASE WHEN q.on_deadline = 'default' THEN q.default_answer END
  WHERE q.workspace_id = $1 AND q.id = $2 AND q.status = 'open' AND q.deadline_at <= now()
  RETURNING q.*
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, level, message, details, actor_kind)
  SELECT q.workspace_id, 'question.expired', 'question_expired', q.task_id, q.run_id, q.agent_id, 'WARN', CASE q.on_deadline
        WHEN 'default' THEN 'Nobody answered in time; the default counts: ' || left(q.answer, 500)
        ELSE 'Nobody answered in time' END, jsonb_build_object('questionId', q.id, 'prompt', q.prompt, 'answer', q.answer, 'onDeadline', q.on_deadline), 'coordinator'
  FROM q
)
SELECT q.id, q.task_id, q.run_id, q.agent_id, q.run_waits, q.prompt, q.on_deadline,
  q.answer, q.closed_at FROM q

-- insert_question
WITH q AS (
  INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, choices, free_text,
    deadline_at,
    on_deadline, default_answer, run_waits)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, date_trunc('milliseconds',
    coalesce($10::timestamptz, now() + make_interval(secs => $9::float8))), $11, $12, $13)
  RETURNING *
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, level, message, details, actor_kind, actor_id)
  SELECT q.workspace_id, 'question.asked', 'question_asked', q.task_id, q.run_id, q.agent_id, 'INFO', 'It asks: ' || left(q.prompt, 500), jsonb_build_object('questionId', q.id, 'prompt', q.prompt, 'choices', q.choices, 'freeText', q.free_text,
        'deadlineAt', to_json(q.deadline_at)::jsonb, 'onDeadline', q.on_deadline), $14, $15
  FROM q
)
SELECT id FROM q

-- newest_questions
SELECT q.id, q.task_id, t.title AS task_title, q.run_id, q.agent_id, q.prompt,
  q.choices, q.free_text,
  q.status, q.asked_at, q.deadline_at, q.on_deadline, q.default_answer, q.answer, q.answered_by, q.closed_at,
  q.run_waits
FROM questions q JOIN agent_tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id
WHERE q.workspace_id = $1 AND ($2::text IS NULL OR q.status = $2)
  AND ($3::uuid IS NULL OR q.task_id = $3)
  AND ($4::uuid IS NULL OR q.id < $4)
ORDER BY q.id DESC LIMIT $5

-- question_by_id
SELECT q.id, q.task_id, t.title AS task_title, q.run_id, q.agent_id, q.prompt,
  q.choices, q.free_text,
  q.status, q.asked_at, q.deadline_at, q.on_deadline, q.default_answer, q.answer, q.answered_by, q.closed_at,
  q.run_waits
FROM questions q JOIN agent_tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id
WHERE q.workspace_id = $1 AND q.id = $2

-- question_of_run
SELECT q.id, q.task_id, t.title AS task_title, q.run_id, q.agent_id, q.prompt,
  q.choices, q.free_text,
  q.status, q.asked_at, q.deadline_at, q.on_deadline, q.default_answer, q.answer, q.answered_by, q.closed_at,
  q.run_waits
FROM questions q JOIN agent_tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id
WHERE q.workspace_id = $1 AND q.run_id = $2 AND q.agent_id = $3 AND NOT q.run_waits

-- urgent_questions
SELECT q.id, q.task_id, t.title AS task_title, q.run_id, q.agent_id, q.prompt,
  q.choices, q.free_text,
  q.status, q.asked_at, q.deadline_at, q.on_deadline, q.default_answer, q.answer, q.answered_by, q.closed_at,
  q.run_waits
FROM questions q JOIN agent_tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id
WHERE q.workspace_id = $1 AND q.status = 'open' AND ($2::uuid IS NULL OR q.task_id = $2)
  AND ($3::timestamptz IS NULL OR (q.deadline_at, q.id) > ($3, $4::uuid))
ORDER BY q.deadline_at, q.id LIMIT $5

-- waited_for_by_run
SELECT q.id, q.task_id, t.title AS task_title, q.run_id, q.agent_id, q.prompt,
  q.choices, q.free_text,
  q.status, q.asked_at, q.deadline_at, q.on_deadline, q.default_answer, q.answer, q.answered_by, q.closed_at,
  q.run_waits
FROM questions q JOIN agent_tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id
WHERE q.workspace_id = $1 AND q.task_id = $2 AND q.run_id = $3 AND q.status = 'open' AND q.run_waits
